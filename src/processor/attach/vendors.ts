import { isRecord } from '../../spans/json.ts'
import { lookAt } from './look-at.ts'

const BESIDE = 'start an OpenTelemetry SDK such as NodeSDK beside it'

/** The name of an object's class, without what a bundler appended, as in `TracerProvider$1` of SDK 3; `undefined` if it cannot be read. */
export function nameOfClass(value: object | undefined): string | undefined {
  const name: unknown = lookAt(() => value?.constructor?.name)
  return typeof name === 'string' && name !== '' ? name.replace(/\$\d+$/, '').slice(0, 100) : undefined
}

/**
 * What to do where Sentry or Datadog is loaded, whose own tracers have no span processors that can be scored from: one or two sentences.
 * `undefined` where neither is.
 *
 * @param provider the tracer provider that scoring cannot be attached to; `undefined` if there is none
 */
export function wayOfVendor(provider: object | undefined): string | undefined {
  const sentry = lookAt(() => Reflect.get(globalThis, '__SENTRY__') as unknown)
  const isSentry = provider === undefined ? isRecord(sentry) : nameOfClass(provider)?.startsWith('Sentry') === true
  if (isSentry) return wayOfSentry(Number.parseInt(String(isRecord(sentry) ? sentry['version'] : ''), 10))
  if (lookAt(() => Reflect.get(globalThis, Symbol.for('dd-trace')) as unknown) === undefined) return undefined
  return (
    `Datadog's own tracer has no spans that can be scored: ${BESIDE}, without DD_TRACE_OTEL_ENABLED, or build a provider for the agents alone: ` +
    'attachScoring({ tracerProvider }), and new OpenTelemetry({ tracer }) in the AI SDK. See docs/reference/distributions.md.'
  )
}

/** @param major the version of Sentry; `NaN` if it is not known */
function wayOfSentry(major: number): string {
  const ways = [
    ...(major >= 11 ? [] : ['set openTelemetryBasicTracerProvider: true in Sentry.init() of version 10']),
    ...(major < 11 ? [] : [`with version 11, ${BESIDE}`]),
  ]
  return `Sentry's own tracer has no span processors: ${ways.join(', or ')}. See docs/reference/distributions.md.`
}

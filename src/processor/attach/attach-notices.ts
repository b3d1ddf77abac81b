import { globalSlot } from '../../scoring/global-slot.ts'
import type { ResolvedOptions } from '../../engine/config/options.ts'
import { notify } from '../../engine/notices/notify.ts'
import { isRecord } from '../../spans/json.ts'
import type { OpenSpan } from '../../spans/sdk-types.ts'
import { lookAt } from './look-at.ts'
import { nameOfClass, wayOfVendor } from './vendors.ts'

/** The options with which scoring was attached to each provider, in comparable form. */
const signatures = globalSlot('signatures', () => new WeakMap<object, string>(), isWeakMap)

/** What to report of a processor that was attached, when it gets its first span. */
const whenRead = new WeakMap<object, { readonly message: string; readonly name: string }>()

/** Processors that got a span that they cannot read. */
const unreading = new WeakSet<object>()

/** What every span is read for, and what it must be. */
const readable: Readonly<Record<string, (span: OpenSpan) => boolean>> = {
  name: ({ name }) => typeof name === 'string',
  spanContext: (span) =>
    typeof span.spanContext().traceId === 'string' && typeof span.spanContext().spanId === 'string',
  attributes: ({ attributes }) => isRecord(attributes),
  events: ({ events }) => Array.isArray(events),
  status: ({ status }) => typeof status.code === 'number',
  startTime: ({ startTime: [seconds, nanos] }) => typeof seconds === 'number' && typeof nanos === 'number',
  // SDK 1.x calls it instrumentationLibrary, and a span may be without one.
  instrumentationScope: ({ instrumentationScope, instrumentationLibrary }) =>
    isRecord(instrumentationScope ?? instrumentationLibrary ?? {}),
  'room for a property': (span) => Object.isExtensible(span),
}

/** Logs that scoring was attached, and to which provider, once one of the provider's spans could be read. */
export function reportWhenRead(
  processor: object,
  provider: object,
  processorsBehind: number,
  options: ResolvedOptions,
): void {
  signatures.set(provider, signatureOf(options))
  const name = nameOfClass(provider) ?? 'a tracer provider'
  const before = processorsBehind === 0 ? 'beside its processors' : `in front of ${processorsBehind} of its processors`
  const ids = options.scorers.map(({ id }) => id).join(', ')
  whenRead.set(processor, { message: `Attached to ${name}, ${before}. Scorers: ${ids}.`, name })
}

/** Whether a processor can read a span. Reports that scoring is attached, or, once, that it is not. Must not be called after it could. */
export function canRead(span: OpenSpan, processor: object): boolean {
  const lacks = Object.keys(readable).filter((name) => lookAt(() => readable[name]?.(span)) !== true)
  const { message, name = 'the tracer provider' } = whenRead.get(processor) ?? {}
  if (lacks.length === 0) {
    if (message !== undefined) notify('SPANSCORE_ATTACHED', message)
  } else if (!unreading.has(processor)) {
    unreading.add(processor)
    const way =
      wayOfVendor(undefined) ?? 'Only spans with the properties of those of the OpenTelemetry SDK can be scored.'
    notify(
      'SPANSCORE_NOT_ATTACHED',
      `Nothing is scored: spans of ${name} cannot be read (no ${lacks.join(', ')}). ${way}`,
    )
  }
  return lacks.length === 0
}

/** Reports a second call whose options differ from the first. A hot reload with the same options is not reported. */
export function reportOtherOptions(provider: object, options: ResolvedOptions): void {
  if (signatures.get(provider) === signatureOf(options)) return
  const cure = 'Call attachScoring once, or detach() what the first call returned.'
  notify(
    'SPANSCORE_ATTACHED_TWICE',
    `attachScoring was called again for the same tracer provider with other options, which are ignored. ${cure}`,
  )
}

/** The options in comparable form. Functions differ after every reload, so they count as equal. */
function signatureOf(options: ResolvedOptions): string {
  const { next: _next, tracerProvider: _tracer, meterProvider: _meter, loggerProvider: _logger, ...plain } = options
  return JSON.stringify({
    ...plain,
    scorers: options.scorers.map(({ about, agents, scope, sample }) => ({
      about,
      agents: [...(agents ?? [])],
      scope,
      sample,
    })),
  })
}

function isWeakMap(value: unknown): value is WeakMap<object, string> {
  return value instanceof WeakMap
}

import type { DoctorLine, ProcessFacts } from './facts.ts'
import { checks } from '../../../src/processor/checks/checks.ts'
import { bad, foundBy, good } from './finding.ts'

/** The lines about the tracer provider and its processors. */
export function providerFindings({ tracerProvider, packages, disabledBy }: ProcessFacts): readonly DoctorLine[] {
  if (tracerProvider === undefined && disabledBy.traces !== undefined) {
    return [
      bad(
        `Tracer provider: none is registered, because of ${disabledBy.traces}.`,
        'Unset this variable: scores need spans.',
      ),
    ]
  }
  if (tracerProvider === undefined) {
    const hasSdk = Object.keys(packages).some((name) => name.startsWith('@opentelemetry/sdk-'))
    return [
      bad(
        'Tracer provider: none is registered.',
        hasSdk
          ? 'The SDK is loaded: start it with sdk.start(), or call trace.setGlobalTracerProvider(provider).'
          : 'Start an OpenTelemetry SDK before the application: node --import ./telemetry.mjs app.js.',
      ),
    ]
  }
  const { name, processors } = tracerProvider
  if (processors === undefined) {
    return [
      bad(
        `Tracer provider: ${name} does not show its processors.`,
        'Put a ScoringSpanProcessor into its spanProcessors where you build it.',
      ),
    ]
  }
  const list = processors.map((each) => (each.exporter === undefined ? each.name : `${each.name} → ${each.exporter}`))
  if (list.length === 0) {
    return [
      bad(
        `Tracer provider: ${name} has no span processors.`,
        'Spans and scores go nowhere: give it a processor with an exporter.',
      ),
    ]
  }
  const text = `Tracer provider: ${name} with ${list.join(', ')}.`
  if (processors.every((each) => each.name === 'ScoringSpanProcessor')) {
    return [good(text), ...foundBy(checks.exports, { exportsSpans: false })]
  }
  return [good(text)]
}

/** The lines about the providers of metrics and events. */
export function signalFindings({
  meterProvider,
  loggerProvider,
  tracerProvider,
  disabledBy,
}: ProcessFacts): readonly DoctorLine[] {
  if (tracerProvider === undefined) return []
  return [
    signalFinding('Meter provider', meterProvider, disabledBy.metrics, 'metrics'),
    signalFinding('Logger provider', loggerProvider, disabledBy.logs, 'events'),
  ]
}

/** A signal that an environment variable switches off is not a mistake. */
function signalFinding(
  title: string,
  provider: string | undefined,
  disabledBy: string | undefined,
  what: 'metrics' | 'events',
): DoctorLine {
  if (provider !== undefined) return good(`${title}: ${provider}.`)
  if (disabledBy !== undefined) return good(`${title}: none, because of ${disabledBy}. There are no ${what}.`)
  return bad(
    `${title}: none is registered.`,
    `Without one there are no ${what}. Set one up, or set emit.${what} to false.`,
  )
}

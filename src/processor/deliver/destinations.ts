import type { ResolvedOptions } from '../config/options.ts'
import type { Providers } from '../attach/tracer-providers.ts'

/** Says, at the first score, where scores go, and which of the places nobody has set up. */
export function describeDestinations({ emit, next }: ResolvedOptions, providers: Providers): string {
  const hasTracer = providers.tracerProvider() !== undefined
  const spans = [
    ...(emit.attributes ? ["attributes of the agent's span"] : []),
    ...(emit.lateSpans === 'never'
      ? []
      : [hasTracer ? 'late spans' : 'no late spans (no tracer provider is registered)']),
  ]
  const events = providers.loggerProvider()
    ? 'log events gen_ai.evaluation.result'
    : 'no events (no logger provider is registered)'
  const metrics = providers.meterProvider() ? 'metrics spanscore.*' : 'no metrics (no meter provider is registered)'
  const judged = next === undefined ? 'judge scores on late spans, no processor behind holds agent spans' : undefined
  return [
    'First score. Scores go to',
    [
      spans.join(', ') || 'no spans (emit)',
      emit.events ? events : 'no events (emit)',
      emit.metrics ? metrics : 'no metrics (emit)',
    ].join('; '),
    ...(judged === undefined ? [] : [`(${judged})`]),
  ].join(' ')
}

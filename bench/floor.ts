import { logs, metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Context, Histogram, Logger, Span } from '@opentelemetry/api'
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace'

/** What the floor writes for each agent run. */
export interface FloorOptions {
  /** Whether runs are scored at all. */
  readonly scores: boolean
  /** Whether events and metrics are written, and not only attributes of the span. */
  readonly signals: boolean
}

/**
 * Does only what no processor that scores runs can avoid: it keeps the ids of open spans in a `Map`, parses what the models answered once, and
 * writes two scores that were ready before, by the same calls into the SDK as spanscore. What it costs is the least that spanscore can cost.
 * It does not even find out which run a span belongs to, but assumes that there is only one at a time. Weighted sums are left out, because
 * they are written once a second.
 */
export class Floor implements SpanProcessor {
  readonly #options: FloorOptions
  /** The ids of open spans. A map that refers to the spans themselves would make the garbage collector copy them. */
  readonly #open = new Map<string, true>()
  /** The model calls of the run so far. */
  #calls: ReadableSpan[] = []
  #logger: Logger | undefined
  #histogram: Histogram | undefined

  constructor(options: FloorOptions) {
    this.#options = options
  }

  onStart(span: ReadableSpan): void {
    this.#open.set(span.spanContext().spanId, true)
    if (this.#options.scores && span.attributes['gen_ai.operation.name'] === 'chat') this.#calls.push(span)
  }

  onEnding(span: Span & ReadableSpan): void {
    if (!this.#options.scores || span.attributes['gen_ai.operation.name'] !== 'invoke_agent') return
    const calls = this.#calls
    this.#calls = []
    if (countAnswers(calls) === 0) throw new Error('expected a run with answers of its models')
    const context = trace.setSpanContext(ROOT_CONTEXT, span.spanContext())
    for (const id of SCORERS) {
      for (const { key, value } of ATTRIBUTES[id]) span.setAttribute(key, value)
      if (this.#options.signals) this.#writeSignals(id, span, context)
    }
  }

  onEnd(span: ReadableSpan): void {
    this.#open.delete(span.spanContext().spanId)
  }

  forceFlush(): Promise<void> {
    return Promise.resolve()
  }

  shutdown(): Promise<void> {
    return Promise.resolve()
  }

  #writeSignals(id: ScorerId, span: ReadableSpan, context: Context): void {
    this.#logger ??= logs.getLogger('spanscore', '1')
    this.#logger.emit({
      eventName: 'gen_ai.evaluation.result',
      severityNumber: 9,
      severityText: 'INFO',
      timestamp: span.startTime,
      observedTimestamp: Date.now(),
      context,
      attributes: {
        'gen_ai.evaluation.name': id,
        'gen_ai.evaluation.score.value': 1,
        'gen_ai.evaluation.score.label': 'pass',
        'gen_ai.evaluation.explanation': 'As expected: wanted weather-tool; called: weather-tool.',
        'gen_ai.agent.name': 'weather-agent',
        'gen_ai.response.id': 'response-1',
        'spanscore.scorer.version': '12345678',
        'spanscore.scorer.kind': 'code',
        'spanscore.score.min': 0,
        'spanscore.score.max': 1,
        'spanscore.score.better': 'higher',
        'spanscore.complete': true,
        'spanscore.revision': 1,
        'spanscore.probability': 1,
        'spanscore.verdict_delay_ms': 0,
      },
    })
    this.#histogram ??= metrics.getMeter('spanscore', '1').createHistogram('spanscore.score')
    this.#histogram.record(1, { 'gen_ai.evaluation.name': id, 'gen_ai.agent.name': 'weather-agent' })
  }
}

const SCORERS = ['tool_call_accuracy', 'answered'] as const
type ScorerId = (typeof SCORERS)[number]

const ATTRIBUTES = { tool_call_accuracy: attributesOf('tool_call_accuracy'), answered: attributesOf('answered') }

function attributesOf(id: ScorerId) {
  return [
    { key: `spanscore.${id}.score`, value: 1 },
    { key: `spanscore.${id}.label`, value: 'pass' },
    { key: `spanscore.${id}.explanation`, value: 'As expected: wanted weather-tool; called: weather-tool.' },
    { key: 'spanscore.complete', value: true },
    { key: 'spanscore.revision', value: 1 },
    { key: `spanscore.${id}.version`, value: '12345678' },
  ]
}

/** Parses what the models answered, and counts the messages. */
function countAnswers(calls: readonly ReadableSpan[]): number {
  let messages = 0
  for (const { attributes } of calls) {
    const answer = attributes['gen_ai.output.messages']
    if (typeof answer === 'string') messages += (JSON.parse(answer) as unknown[]).length
  }
  return messages
}

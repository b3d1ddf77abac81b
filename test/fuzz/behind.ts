import { BatchSpanProcessor, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'

import type { Random } from './random.ts'
import { strangeValue } from './values.ts'

/** Counts how often each span comes, and then does what may go wrong in the processors and exporters behind. */
export class Behind implements SpanProcessor {
  ended = 0
  readonly seen = new Map<string, number>()
  readonly #random: Random
  readonly #exporting: SpanProcessor | undefined
  readonly #fails: (what: 'hook' | 'flush') => Promise<void>

  constructor(random: Random) {
    this.#random = random
    this.#exporting = exportingBehind(random)
    const rate = random.pick([0, 0, 0.3])
    this.#fails = (what) => {
      if (!random.chance(rate)) return Promise.resolve()
      if (what === 'hook' || random.chance(0.3)) throw strangeValue(random)
      // A flush that never ends is waited for. That is measured among the combinations of faults.
      return Promise.reject(strangeValue(random))
    }
  }

  onStart(...given: Parameters<SpanProcessor['onStart']>): void {
    this.#exporting?.onStart(...given)
    void this.#fails('hook')
  }

  onEnd(span: ReadableSpan): void {
    this.ended += 1
    const { spanId } = span.spanContext()
    this.seen.set(spanId, (this.seen.get(spanId) ?? 0) + 1)
    this.#exporting?.onEnd(span)
    void this.#fails('hook')
  }

  async forceFlush(): Promise<void> {
    await this.#fails('flush')
  }

  async shutdown(): Promise<void> {
    await this.#fails('flush')
    // An exporter that never answers would be waited for.
    void this.#exporting?.shutdown().catch(() => undefined)
    if (this.#random.chance(0.05)) throw strangeValue(this.#random)
  }
}

/** A processor of the SDK with an exporter that reads everything, throws in its turn, fails, or never answers. */
function exportingBehind(random: Random): SpanProcessor | undefined {
  if (random.chance(0.6)) return undefined
  const fault = random.pick(['reads', 'throws', 'fails', 'never answers'] as const)
  const exporter: SpanExporter = {
    export(spans, done) {
      for (const { attributes, events, links } of spans) {
        try {
          // No values: an array of four billion entries would take an exporter minutes, too.
          void [Object.entries(attributes).length, events.length, links.length]
        } catch {
          // Some values cannot be read by anybody.
        }
      }
      if (fault === 'throws') throw new Error('the exporter threw')
      if (fault !== 'never answers') done({ code: fault === 'fails' ? 1 : 0 })
    },
    shutdown: () => Promise.resolve(),
  }
  if (random.chance(0.5)) return new SimpleSpanProcessor({ exporter })
  return new BatchSpanProcessor({ exporter, scheduledDelayMillis: 5, exportTimeoutMillis: 20, maxExportBatchSize: 8 })
}

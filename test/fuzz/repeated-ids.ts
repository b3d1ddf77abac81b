import type { SpanContext } from '@opentelemetry/api'
import { TraceFlags } from '@opentelemetry/api'
import type { IdGenerator } from '@opentelemetry/sdk-trace'

import type { Random } from './random.ts'

const TRACES = 3
const SPANS = 200

/** A broken generator: traces and spans get ids that others have, so that a span may also be its own ancestor. */
export class RepeatedIds implements IdGenerator {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  generateTraceId = (): string => this.#id(TRACES, 32)

  generateSpanId = (): string => this.#id(SPANS, 16)

  /** A parent that is named by its ids alone: an open span, an ended one, one of another trace, or one that never starts. */
  parent(): SpanContext {
    return {
      traceId: this.generateTraceId(),
      spanId: this.generateSpanId(),
      traceFlags: TraceFlags.SAMPLED,
      isRemote: this.#random.chance(0.1),
    }
  }

  #id(count: number, digits: number): string {
    return (1 + this.#random.integer(count)).toString(16).padStart(digits, '0')
  }
}

/** A span of a run, reduced to how much there is to read of it. */
export interface ReadableSpan {
  readonly role: string
  readonly contentBytes: number
}

/** Placing a span takes as long as reading this many bytes of content. */
const SPAN_BYTES = 512

/**
 * Estimates how many bytes of content are read when a run is put together and scored. A request repeats what was said before, so of the model
 * calls, one request and all replies are read: together at most twice the largest call. If no tool has a span, every request is read,
 * because it may have the results of tools.
 */
export class ReadEstimate {
  #others = 0
  #models = 0
  #largest = 0
  #hasTools = false

  add({ role, contentBytes }: ReadableSpan): void {
    this.#others += SPAN_BYTES
    if (role === 'tool') this.#hasTools = true
    if (role !== 'model') {
      this.#others += contentBytes
      return
    }
    this.#models += contentBytes
    this.#largest = Math.max(this.#largest, contentBytes)
  }

  /** The estimate for the spans so far. */
  get bytes(): number {
    return this.#hasTools ? this.leastBytes : this.#others + this.#models
  }

  /** What the estimate cannot fall below, whatever spans are added. */
  get leastBytes(): number {
    return this.#others + Math.min(this.#models, 2 * this.#largest)
  }
}

/** The estimate for all spans of a run. */
export function readBytesOf(spans: Iterable<ReadableSpan>): number {
  const estimate = new ReadEstimate()
  for (const span of spans) estimate.add(span)
  return estimate.bytes
}

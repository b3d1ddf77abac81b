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
export function readBytesOf(spans: Iterable<ReadableSpan>): number {
  let [all, models, largest, placed] = [0, 0, 0, 0]
  let hasTools = false
  for (const { role, contentBytes } of spans) {
    all += contentBytes
    placed += SPAN_BYTES
    if (role === 'tool') hasTools = true
    if (role !== 'model') continue
    models += contentBytes
    largest = Math.max(largest, contentBytes)
  }
  return placed + (hasTools ? all - models + Math.min(models, 2 * largest) : all)
}

/** The same if every request is read: an upper bound that is known without looking at the spans. */
export function mostReadBytes(contentBytes: number, spanCount: number): number {
  return contentBytes + spanCount * SPAN_BYTES
}

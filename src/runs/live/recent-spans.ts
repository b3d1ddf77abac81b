import type { LocalSpan } from './local-span.ts'

/** At most so many spans are compared for one look-up: ids of a generator that repeats itself would all fall together. */
const MAX_STEPS = 256

const FIRST_CAPACITY = 1024

/**
 * The latest spans that started in this process, found by trace and span id: a ring, with the entries of equal hash chained
 * from the latest to the earliest. A `Map` would cost each of the application's spans an insertion and a removal of a
 * string key, which is several times as much.
 *
 * It holds no span of the application, only our records of them.
 */
export class RecentSpans {
  readonly #capacity: number
  readonly #maxAgeSeconds: number
  readonly #spans: LocalSpan[] = []
  #mask = 0
  /** When each began, in seconds since the epoch. */
  #startedAt = new Float64Array()
  /** By hash, the position of the latest span, counted from 1; 0 where there is none. */
  #latest = new Float64Array()
  /** By slot, the position of the next earlier span of the same hash. */
  #earlier = new Float64Array()
  #added = 0

  /** @param capacity How many spans are kept: a power of two. */
  constructor(capacity: number, maxAgeSeconds: number) {
    this.#capacity = capacity
    this.#maxAgeSeconds = maxAgeSeconds
    this.#resize(Math.min(capacity, FIRST_CAPACITY))
  }

  /** Whether spans have fallen out, so that one that is not found may have been here. */
  get hasForgotten(): boolean {
    return this.#added > this.#capacity
  }

  /** @param startedAt When it began, in seconds since the epoch. */
  add(span: LocalSpan, startedAt: number): void {
    if (this.#added > this.#mask && this.#mask + 1 < this.#capacity) this.#resize((this.#mask + 1) * 2)
    const slot = this.#added & this.#mask
    this.#added += 1
    const hash = hashOf(span.context.spanId) & this.#mask
    this.#spans[slot] = span
    this.#startedAt[slot] = startedAt
    this.#earlier[slot] = this.#latest[hash] ?? 0
    this.#latest[hash] = this.#added
  }

  /** @param atSeconds When it is looked for, in seconds since the epoch: what began longer ago than the limit is not found. */
  find(traceId: string, spanId: string, atSeconds: number): LocalSpan | undefined {
    const oldest = Math.max(this.#added - this.#mask, 1)
    let position = this.#latest[hashOf(spanId) & this.#mask] ?? 0
    for (let step = 0; position >= oldest && step < MAX_STEPS; step++) {
      const slot = (position - 1) & this.#mask
      const span = this.#spans[slot]
      if (span !== undefined && span.context.spanId === spanId && span.context.traceId === traceId) {
        return atSeconds - (this.#startedAt[slot] ?? 0) > this.#maxAgeSeconds ? undefined : span
      }
      position = this.#earlier[slot] ?? 0
    }
    return undefined
  }

  /** The tables grow with what is in them: an application that has few spans pays for few. */
  #resize(capacity: number): void {
    const startedAt = this.#startedAt
    this.#mask = capacity - 1
    this.#startedAt = new Float64Array(capacity)
    this.#latest = new Float64Array(capacity)
    this.#earlier = new Float64Array(capacity)
    this.#added = 0
    // Until the tables are as large as they get, nothing has been written over: positions are places.
    for (const [slot, span] of this.#spans.entries()) this.add(span, startedAt[slot] ?? 0)
  }
}

/** Of the last eight characters: ids of tests and of some generators differ in these alone. */
function hashOf(id: string): number {
  let hash = 0
  for (let index = Math.max(id.length - 8, 0); index < id.length; index++) {
    hash = (Math.imul(hash, 31) + id.charCodeAt(index)) | 0
  }
  return hash ^ (hash >>> 15)
}

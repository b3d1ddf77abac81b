import type { LocalSpan } from './local-span.ts'

/** At most so many spans are compared for one look-up: ids of a generator that repeats itself would all fall together. */
const MAX_STEPS = 256

const FIRST_CAPACITY = 1024

/** What is in a row, by column. */
const ID_HIGH = 0
const ID_LOW = 1
const TRACE = 2
const TOP_HIGH = 3
const TOP_LOW = 4
const STARTED_AT = 5
/** How many positions earlier the last span of the same hash is; 0 where there is none. */
const EARLIER = 6
const STATE = 7
const COLUMNS = 8

/** The record is there: the span is open, or it is of a run that is not closed. */
const HELD = 0
/** The record was let go of: the span has ended, and nobody recognised it. */
const PASSED = 1
/** The record was let go of: the span has ended, and so has its run. */
const OVER = 2

/** What a table keeps of a span whose record it let go of. */
export interface PastSpan {
  readonly isOver: boolean
  /** The position of the next record on its way up; 0 where there is none. */
  readonly above: number
  readonly topId: string
}

/**
 * The latest spans that started in this process, found by trace and span id: a ring of numbers, with the rows of equal hash
 * chained from the latest to the earliest.
 *
 * It refers to the records of spans that matter at this moment only. Of all others it keeps numbers: a garbage collector copies
 * every object that is kept until later, several times, which costs an application's span more than all else that is done
 * with it here. A `Map` of ids would cost an insertion and a removal of a string key for each span besides.
 */
export class SpanTable {
  readonly #capacity: number
  readonly #maxAgeSeconds: number
  readonly #records: (LocalSpan | undefined)[] = []
  #mask = 0
  #rows = new Int32Array()
  /** By slot, the position of the next record above a span that was let go of. */
  #above = new Float64Array()
  /** By hash, the position of the latest span, counted from 1; 0 where there is none. */
  #latest = new Float64Array()
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

  /**
   * Gives the position of the new row.
   *
   * @param startedAt When the span began, in seconds since the epoch.
   */
  add(span: LocalSpan, startedAt: number): number {
    if (this.#added > this.#mask && this.#mask + 1 < this.#capacity) this.#resize((this.#mask + 1) * 2)
    const slot = this.#added & this.#mask
    this.#records[slot] = span
    const { context, topId } = span
    const rows = this.#rows
    const row = slot * COLUMNS
    rows[row + ID_HIGH] = hexAt(context.spanId, 0)
    rows[row + ID_LOW] = hexAt(context.spanId, 8)
    rows[row + TRACE] = hexAt(context.traceId, 24)
    rows[row + TOP_HIGH] = topId === '' ? 0 : hexAt(topId, 0)
    rows[row + TOP_LOW] = topId === '' ? 0 : hexAt(topId, 8)
    rows[row + STARTED_AT] = startedAt
    rows[row + STATE] = HELD
    this.#chain(row)
    return this.#added
  }

  /** Lets go of the record of a span. What is above it is found from there on. */
  release(position: number, isOver: boolean, above: number): void {
    if (!this.#has(position)) return
    const slot = (position - 1) & this.#mask
    this.#records[slot] = undefined
    this.#rows[slot * COLUMNS + STATE] = isOver ? OVER : PASSED
    this.#above[slot] = above
  }

  /**
   * The position of a span; 0 where it is not found.
   *
   * @param atSeconds When it is looked for, in seconds since the epoch: what began longer ago than the limit is not found.
   */
  find(traceId: string, spanId: string, atSeconds: number): number {
    const high = hexAt(spanId, 0)
    const low = hexAt(spanId, 8)
    const trace = hexAt(traceId, 24)
    const rows = this.#rows
    let position = this.#latest[this.#hash(high, low)] ?? 0
    for (let step = 0; this.#has(position) && step < MAX_STEPS; step++) {
      const row = ((position - 1) & this.#mask) * COLUMNS
      if (rows[row + ID_LOW] === low && rows[row + ID_HIGH] === high && rows[row + TRACE] === trace) {
        return atSeconds - (rows[row + STARTED_AT] ?? 0) > this.#maxAgeSeconds ? 0 : position
      }
      const earlier = rows[row + EARLIER] ?? 0
      if (earlier === 0) return 0
      position -= earlier
    }
    return 0
  }

  /** The record at a position, while there is one. */
  recordAt(position: number): LocalSpan | undefined {
    return this.#has(position) ? this.#records[(position - 1) & this.#mask] : undefined
  }

  /** What is known of a span whose record was let go of; `undefined` where it has fallen out. */
  pastAt(position: number): PastSpan | undefined {
    if (!this.#has(position)) return undefined
    const slot = (position - 1) & this.#mask
    const row = slot * COLUMNS
    return {
      isOver: this.#rows[row + STATE] === OVER,
      above: this.#above[slot] ?? 0,
      topId: toHex(this.#rows[row + TOP_HIGH] ?? 0, this.#rows[row + TOP_LOW] ?? 0),
    }
  }

  #has(position: number): boolean {
    return position > 0 && position <= this.#added && position >= this.#added - this.#mask
  }

  #hash(high: number, low: number): number {
    const mixed = Math.imul(high ^ low, 0x9e3779b1)
    return (mixed ^ (mixed >>> 15)) & this.#mask
  }

  /** Puts the next row before the others of its hash. */
  #chain(row: number): void {
    const hash = this.#hash(this.#rows[row + ID_HIGH] ?? 0, this.#rows[row + ID_LOW] ?? 0)
    const latest = this.#latest[hash] ?? 0
    this.#added += 1
    this.#rows[row + EARLIER] = this.#has(latest) ? this.#added - latest : 0
    this.#latest[hash] = this.#added
  }

  /** The table grows with what is in it: an application that has few spans pays for few. */
  #resize(capacity: number): void {
    const [rows, above, added] = [this.#rows, this.#above, this.#added]
    this.#mask = capacity - 1
    this.#rows = new Int32Array(capacity * COLUMNS)
    this.#rows.set(rows)
    this.#above = new Float64Array(capacity)
    this.#above.set(above)
    this.#latest = new Float64Array(capacity)
    // Until the table is as large as it gets, nothing has been written over: positions are places.
    this.#added = 0
    while (this.#added < added) this.#chain(this.#added * COLUMNS)
  }
}

/** Eight hex digits of an id as one number of 32 bits; what an id of another form gives is some number. */
function hexAt(id: string, start: number): number {
  let value = 0
  for (let index = start; index < start + 8; index++) {
    const code = id.charCodeAt(index)
    value = (value << 4) | ((code & 15) + (code >> 6) * 9)
  }
  return value
}

function toHex(high: number, low: number): string {
  if (high === 0 && low === 0) return ''
  return [high, low].map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('')
}

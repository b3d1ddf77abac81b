import type { LocalSpan } from './local-span.ts'

/** At most so many spans are compared for one look-up: ids of a generator that repeats itself would all fall together. */
const MAX_STEPS = 256

const FIRST_CAPACITY = 1024

/** What is in a row, by column. */
const ID_HIGH = 0
const ID_LOW = 1
const TRACE = 2
const STARTED_AT = 3
/** How many positions earlier the last span of the same hash is; 0 where there is none. */
const EARLIER = 4
const STATE = 5
/** Of a span that was let go of, and has nothing known above it: the id that it names as its parent. */
const NAMED_HIGH = 6
const NAMED_LOW = 7
const COLUMNS = 8

/** The record is there: the span is open, or it is of a run that is not closed. */
const HELD = 0
/** The record was let go of: the span has ended, and nobody recognised it. */
const PASSED = 1
/** The record was let go of: the span has ended, and so has its run. */
const OVER = 2
/** Added to the state where the way up from the span is lost. */
const LOST = 4

/** What a table takes over of a record that it lets go of. */
type SpanPlace = Pick<LocalSpan, 'isOver' | 'above' | 'topPosition' | 'topId' | 'isLost'>

/** What a table keeps of a span whose record it let go of. */
export interface PastSpan {
  readonly isOver: boolean
  /** Whether the way up from it ends at a span that is named and never started here. */
  readonly isLost: boolean
  /** The position of the next record on its way up; 0 where there is none. */
  readonly above: number
  /** The position of the outermost span above it; 0 where nothing is known above it. */
  readonly top: number
  /** Where nothing is known above it: the id that it names as its parent, empty where it names none. */
  readonly namedAbove: string
  readonly spanId: string
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
  /** By slot, two positions of a span that was let go of: of the next record above, and of the outermost span above it. */
  #ways = new Float64Array()
  /** By hash, the slot of the latest span, counted from 1; 0 where there is none. Small, so that it stays in the processor's cache. */
  #latest = new Uint16Array()
  #added = 0
  /** Spans of a trace often come one after the other. */
  #latestTraceId = ''
  #latestTrace = 0

  /** @param capacity How many spans are kept: a power of two, 32,768 at most. */
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
    const { traceId, spanId } = span.context
    if (traceId !== this.#latestTraceId) {
      this.#latestTraceId = traceId
      this.#latestTrace = hexAt(traceId, 24)
    }
    const rows = this.#rows
    const row = slot * COLUMNS
    rows[row + ID_HIGH] = hexAt(spanId, 0)
    rows[row + ID_LOW] = hexAt(spanId, 8)
    rows[row + TRACE] = this.#latestTrace
    rows[row + STARTED_AT] = startedAt
    rows[row + STATE] = HELD
    this.#chain(row)
    return this.#added
  }

  /** Lets go of the record of a span. What is above it is found from there on. */
  release(position: number, { isOver, above, topPosition, topId, isLost }: SpanPlace): void {
    if (!this.#has(position)) return
    const slot = (position - 1) & this.#mask
    const row = slot * COLUMNS
    this.#records[slot] = undefined
    this.#rows[row + STATE] = (isOver ? OVER : PASSED) + (isLost ? LOST : 0)
    this.#ways[slot * 2] = above?.position ?? 0
    this.#ways[slot * 2 + 1] = topPosition
    const isNamed = topPosition === 0 && topId !== ''
    this.#rows[row + NAMED_HIGH] = isNamed ? hexAt(topId, 0) : 0
    this.#rows[row + NAMED_LOW] = isNamed ? hexAt(topId, 8) : 0
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
    let position = this.#latestOf(this.#hash(high, low))
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

  /** What is known of a span whose record was let go of; `undefined` if it has fallen out. */
  pastAt(position: number): PastSpan | undefined {
    if (!this.#has(position)) return undefined
    const slot = (position - 1) & this.#mask
    const row = slot * COLUMNS
    const state = this.#rows[row + STATE] ?? 0
    return {
      isOver: (state & OVER) !== 0,
      isLost: (state & LOST) !== 0,
      above: this.#ways[slot * 2] ?? 0,
      top: this.#ways[slot * 2 + 1] ?? 0,
      namedAbove: toHex(this.#rows[row + NAMED_HIGH] ?? 0, this.#rows[row + NAMED_LOW] ?? 0),
      spanId: toHex(this.#rows[row + ID_HIGH] ?? 0, this.#rows[row + ID_LOW] ?? 0),
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
    const latest = this.#latestOf(hash)
    this.#added += 1
    this.#rows[row + EARLIER] = this.#has(latest) ? this.#added - latest : 0
    this.#latest[hash] = row / COLUMNS + 1
  }

  /** The position of the latest span of a hash. Where it has fallen out, that of the span in its place: ids are compared anyway. */
  #latestOf(hash: number): number {
    const slot = this.#latest[hash] ?? 0
    return slot === 0 ? 0 : this.#added - ((this.#added - slot) & this.#mask)
  }

  /** The table grows with what is in it: an application that has few spans pays for few. */
  #resize(capacity: number): void {
    const [rows, ways, added] = [this.#rows, this.#ways, this.#added]
    this.#mask = capacity - 1
    this.#rows = new Int32Array(capacity * COLUMNS)
    this.#rows.set(rows)
    this.#ways = new Float64Array(capacity * 2)
    this.#ways.set(ways)
    this.#latest = new Uint16Array(capacity)
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

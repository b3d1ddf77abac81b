import type { LocalSpan } from './local-span.ts'

/** Maximum number of spans that are compared for one look-up, in case a broken id generator produces many equal hashes. */
const MAX_STEPS = 256

const FIRST_CAPACITY = 1024

/** The columns of a row. */
const ID_HIGH = 0
const ID_LOW = 1
const TRACE = 2
const STARTED_AT = 3
/** The distance to the previous span of the same hash; 0 if there is none. */
const EARLIER = 4
const STATE = 5
/** For a dropped span without known ancestors: the parent id that it names. */
const NAMED_HIGH = 6
const NAMED_LOW = 7
const COLUMNS = 8

/** The record exists: the span is open, or its run is not closed. */
const HELD = 0
/** The record was dropped: the span ended unrecognised. */
const PASSED = 1
/** The record was dropped: the span and its run have ended. */
const OVER = 2
/** Added to the state if an ancestor of the span is lost. */
const LOST = 4
/** Added to the state if any of several active runs could own the span. */
const AMBIGUOUS = 8

/** What a table copies from a record that it drops. */
type SpanPlace = Pick<LocalSpan, 'isOver' | 'above' | 'topPosition' | 'topId' | 'isLost' | 'isAmbiguous'>

/** What a table keeps of a span whose record was dropped. */
export interface PastSpan {
  readonly isOver: boolean
  /** Whether its topmost ancestor is only named and never started here. */
  readonly isLost: boolean
  /** Whether any of several active runs could own it. */
  readonly isAmbiguous: boolean
  /** The position of the next record above it; 0 if there is none. */
  readonly above: number
  /** The position of its topmost ancestor; 0 if none is known. */
  readonly top: number
  /** If no ancestor is known: the parent id that it names, or the empty string. */
  readonly namedAbove: string
  readonly spanId: string
}

/**
 * The latest spans of this process, found by trace and span id: a ring of numbers, in which rows of equal hash are chained from the latest
 * to the earliest.
 *
 * It only references the records of spans that still matter, and stores numbers for all others. A garbage collector copies every object
 * that survives, several times, which would cost more than everything else done with an application's span here. A `Map` of ids would also
 * need one insertion and one removal of a string key for each span.
 */
export class SpanTable {
  readonly #capacity: number
  readonly #maxAgeSeconds: number
  readonly #records: (LocalSpan | undefined)[] = []
  #mask = 0
  #rows = new Int32Array()
  /** Two positions for each dropped span, by slot: the next record above, and the topmost ancestor. */
  #ways = new Float64Array()
  /** The slot of the latest span of each hash, counted from 1; 0 if there is none. It is small enough to stay in the CPU cache. */
  #latest = new Uint16Array()
  #added = 0
  /** How many rows are linked by hash. The others are linked at the next look-up, which most applications never need. */
  #linked = 0
  /** Consecutive spans often have the same trace. */
  #latestTraceId = ''
  #latestTrace = 0

  /** @param capacity how many spans are kept: a power of two, at most 32,768 */
  constructor(capacity: number, maxAgeSeconds: number) {
    this.#capacity = capacity
    this.#maxAgeSeconds = maxAgeSeconds
    this.#resize(Math.min(capacity, FIRST_CAPACITY))
  }

  /** Whether spans have been overwritten, so that a missing span may have been here. */
  get hasForgotten(): boolean {
    return this.#added > this.#capacity
  }

  /**
   * Returns the position of the new row.
   *
   * @param startedAt start time of the span, in seconds since the epoch
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
    this.#added += 1
    return this.#added
  }

  /** Drops the record of a span, and keeps the positions of its ancestors. */
  release(position: number, { isOver, above, topPosition, topId, isLost, isAmbiguous }: SpanPlace): void {
    if (!this.#has(position)) return
    const slot = (position - 1) & this.#mask
    const row = slot * COLUMNS
    this.#records[slot] = undefined
    this.#rows[row + STATE] = (isOver ? OVER : PASSED) + (isLost ? LOST : 0) + (isAmbiguous ? AMBIGUOUS : 0)
    this.#ways[slot * 2] = above?.position ?? 0
    this.#ways[slot * 2 + 1] = topPosition
    const isNamed = topPosition === 0 && topId !== ''
    this.#rows[row + NAMED_HIGH] = isNamed ? hexAt(topId, 0) : 0
    this.#rows[row + NAMED_LOW] = isNamed ? hexAt(topId, 8) : 0
  }

  /**
   * The position of a span; 0 if it is not found.
   *
   * @param atSeconds time of the look-up, in seconds since the epoch; spans that began before the age limit are not found
   */
  find(traceId: string, spanId: string, atSeconds: number): number {
    const high = hexAt(spanId, 0)
    const low = hexAt(spanId, 8)
    const trace = hexAt(traceId, 24)
    const rows = this.#rows
    this.#linkAdded()
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

  /** The record at a position, if it exists. */
  recordAt(position: number): LocalSpan | undefined {
    return this.#has(position) ? this.#records[(position - 1) & this.#mask] : undefined
  }

  /** What is known about a span whose record was dropped; `undefined` if it was overwritten. */
  pastAt(position: number): PastSpan | undefined {
    if (!this.#has(position)) return undefined
    const slot = (position - 1) & this.#mask
    const row = slot * COLUMNS
    const state = this.#rows[row + STATE] ?? 0
    return {
      isOver: (state & OVER) !== 0,
      isLost: (state & LOST) !== 0,
      isAmbiguous: (state & AMBIGUOUS) !== 0,
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

  /** Links the rows that were added since the last look-up in front of the others with their hash. */
  #linkAdded(): void {
    // Rows that were overwritten in the meantime need no link.
    this.#linked = Math.max(this.#linked, this.#added - this.#mask - 1)
    while (this.#linked < this.#added) {
      const slot = this.#linked & this.#mask
      const row = slot * COLUMNS
      const hash = this.#hash(this.#rows[row + ID_HIGH] ?? 0, this.#rows[row + ID_LOW] ?? 0)
      const latest = this.#latestOf(hash)
      this.#linked += 1
      this.#rows[row + EARLIER] = this.#has(latest) ? this.#linked - latest : 0
      this.#latest[hash] = slot + 1
    }
  }

  /** The position of the latest span with a hash. If it was overwritten, another span's position, which the id comparison rejects. */
  #latestOf(hash: number): number {
    const slot = this.#latest[hash] ?? 0
    return slot === 0 ? 0 : this.#linked - ((this.#linked - slot) & this.#mask)
  }

  /** The table grows as needed, so that an application with few spans uses little memory. */
  #resize(capacity: number): void {
    const [rows, ways] = [this.#rows, this.#ways]
    this.#mask = capacity - 1
    this.#rows = new Int32Array(capacity * COLUMNS)
    this.#rows.set(rows)
    this.#ways = new Float64Array(capacity * 2)
    this.#ways.set(ways)
    this.#latest = new Uint16Array(capacity)
    // Nothing is overwritten before the table reaches its full size, so positions are slots. All rows are linked again.
    this.#linked = 0
  }
}

/** Eight hex digits of an id as a 32-bit number. Ids of another form yield some number. */
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

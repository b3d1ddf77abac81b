import { deflateRawSync, inflateRawSync } from 'node:zlib'

/** The state of a record: its runs are not scored, scored and waiting for late spans, or finished. */
export type RecordState = 'open' | 'emitted' | 'finished'

const CODES = { open: 0, emitted: 1, finished: 2 } as const
const STATES: readonly RecordState[] = ['open', 'emitted', 'finished']

/** The commit of a topic's partition. */
export interface Commit {
  /** The lowest unfinished offset, at which a new owner starts reading. */
  readonly offset: number
  /** The states from that offset on, as the commit's metadata. */
  readonly metadata: string
}

/** The metadata's version, its first character. With another version, all records are read as open. */
const VERSION = '1'

/**
 * The states of a partition's records, from the lowest unfinished one. Offsets without a record, such as compacted ones, count as finished.
 */
export class OffsetStates {
  readonly #states = new Map<number, 'open' | 'emitted'>()
  /** The last owner's commit, which is valid for all records that were not read again. */
  readonly #before: CommittedStates
  #next: number
  #lowest: number
  /** The latest commit, while nothing has changed since. */
  #latest: Commit | undefined

  constructor(committed: Commit) {
    this.#before = readCommit(committed)
    this.#next = committed.offset
    this.#lowest = committed.offset
  }

  /** The earlier commit. */
  get before(): CommittedStates {
    return this.#before
  }

  /** The offset after the last read one. */
  get next(): number {
    return this.#next
  }

  /** The lowest unfinished offset, or the first unknown one. */
  get lowest(): number {
    const end = this.#end
    while (this.#lowest < end && this.stateOf(this.#lowest) === 'finished') this.#lowest += 1
    return this.#lowest
  }

  /** Unfinished records. */
  get size(): number {
    return this.#states.size
  }

  stateOf(offset: number): RecordState {
    if (offset >= this.#next) return this.#before.stateOf(offset)
    return this.#states.get(offset) ?? 'finished'
  }

  /** Adds a record that was read, and all offsets before it. */
  add(offset: number, state: RecordState): void {
    this.#next = Math.max(this.#next, offset + 1)
    this.set(offset, state)
  }

  /**
   * There is no record before an offset that was not read. While records are unfinished, this changes no commit, because a long commit is
   * such an offset: with each one, there would be something new to commit.
   */
  advance(next: number): void {
    if (next <= this.#next) return
    this.#next = next
    if (this.#states.size === 0) this.#latest = undefined
  }

  /**
   * Everything before an offset was read or is gone.
   *
   * @returns how many records are gone that no owner has scored. Offsets without a record may be among them.
   */
  skipTo(offset: number): number {
    const gone = this.#openUntil(offset)
    this.#latest = undefined
    this.#next = Math.max(this.#next, offset)
    for (const known of this.#states.keys()) if (known < offset) this.#states.delete(known)
    this.#lowest = Math.max(this.#lowest, offset)
    return gone
  }

  set(offset: number, state: RecordState): void {
    this.#latest = undefined
    if (state === 'finished') this.#states.delete(offset)
    else this.#states.set(offset, state)
    if (state !== 'finished' && offset < this.#lowest) this.#lowest = offset
  }

  /**
   * What to commit now: the same object as before if nothing has changed. The cost depends on unfinished records, however many messages
   * are between them.
   */
  commit(): Commit {
    this.#latest ??= this.#commitNow()
    return this.#latest
  }

  #commitNow(): Commit {
    const { lowest } = this
    const runs = new StateRuns(lowest)
    for (const [offset, state] of this.#inOrder()) {
      if (offset < lowest || offset >= this.#next) continue
      runs.add(offset, 'finished')
      runs.add(offset + 1, state)
    }
    // The earlier commit is valid for all records that were not read again.
    for (const { end, state } of this.#before.runs) {
      if (end <= this.#next) continue
      runs.add(Math.max(this.#next, lowest), 'finished')
      runs.add(end, state)
    }
    runs.add(this.#end, 'finished')
    return { offset: lowest, metadata: runs.metadata() }
  }

  /** Records are added by offset, as they are read, so they rarely need sorting. */
  #inOrder(): Iterable<readonly [number, 'open' | 'emitted']> {
    let before = -1
    for (const offset of this.#states.keys()) {
      if (offset < before) return [...this.#states].toSorted(([left], [right]) => left - right)
      before = offset
    }
    return this.#states
  }

  /** How many offsets that were not read, up to one, have no other state than open. */
  #openUntil(offset: number): number {
    let from = this.#next
    let open = 0
    for (const { end, state } of this.#before.runs) {
      if (end <= from) continue
      const until = Math.min(end, offset)
      if (state === 'open') open += Math.max(0, until - from)
      from = Math.max(from, until)
    }
    return open + Math.max(0, offset - from)
  }

  /** The first unknown offset. */
  get #end(): number {
    const { end } = this.#before
    return Number.isFinite(end) ? Math.max(this.#next, end) : this.#next
  }
}

/** States of consecutive offsets, written as lengths. */
class StateRuns {
  readonly #lengths: number[] = []
  #end: number
  #length = 0
  #state: RecordState = 'finished'

  constructor(first: number) {
    this.#end = first
  }

  /** Sets the state of all offsets from the last end up to this one. */
  add(end: number, state: RecordState): void {
    if (end <= this.#end) return
    if (state !== this.#state) this.#write()
    this.#state = state
    this.#length += end - this.#end
    this.#end = end
  }

  metadata(): string {
    this.#write()
    if (this.#lengths.length === 0) return ''
    return VERSION + deflateRawSync(Uint8Array.from(this.#lengths)).toString('base64')
  }

  #write(): void {
    if (this.#length > 0) pushVarint(this.#lengths, this.#length * 4 + CODES[this.#state])
    this.#length = 0
  }
}

/** The states in a commit. */
export interface CommittedStates {
  /** The states in offset order, each up to an offset. */
  readonly runs: readonly { readonly end: number; readonly state: RecordState }[]
  /** The first offset that the commit does not cover. Infinite if its metadata cannot be read: then nothing is known. */
  readonly end: number
  /** The state of an offset; `open` if it has none. */
  readonly stateOf: (offset: number) => RecordState
}

/** Reads the states of a commit. Metadata of another program is ignored: reading everything again loses nothing. */
export function readCommit({ offset: lowest, metadata }: Commit): CommittedStates {
  const runs: { readonly end: number; readonly state: RecordState }[] = []
  let end = lowest
  try {
    if (metadata !== '' && !metadata.startsWith(VERSION)) throw new RangeError('Expected metadata of this version.')
    for (const run of varintsOf(inflateRawSync(Buffer.from(metadata.slice(1), 'base64')))) {
      end += Math.floor(run / 4)
      runs.push({ end, state: STATES[run % 4] ?? 'open' })
    }
  } catch {
    const isUnknown = metadata !== ''
    return {
      runs: [],
      end: isUnknown ? Infinity : lowest,
      stateOf: (offset) => (offset < lowest ? 'finished' : 'open'),
    }
  }
  const stateOf = (offset: number): RecordState => {
    if (offset < lowest) return 'finished'
    let low = 0
    let high = runs.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((runs[middle]?.end ?? 0) > offset) high = middle
      else low = middle + 1
    }
    return runs[low]?.state ?? 'open'
  }
  return { runs, end, stateOf }
}

function pushVarint(into: number[], value: number): void {
  let rest = value
  while (rest >= 0x80) {
    into.push((rest % 0x80) + 0x80)
    rest = Math.floor(rest / 0x80)
  }
  into.push(rest)
}

function* varintsOf(bytes: Uint8Array): Generator<number> {
  let value = 0
  let scale = 1
  for (const byte of bytes) {
    value += (byte & 0x7f) * scale
    scale *= 0x80
    if (byte >= 0x80) continue
    yield value
    value = 0
    scale = 1
  }
}

import type { Budget, BudgetHistory } from 'spanscore/engine'

import { BoundedSet } from '../../traces/bounded-set.ts'
import { OffsetStates } from '../offset-states.ts'
import type { Commit } from '../offset-states.ts'
import type { FetchedRecord } from '../topic-fetcher.ts'
import { decodeSpending, encodeSpending } from './spending-text.ts'

/** Between the states of the jobs and what was spent, in the metadata of a commit. In base64 it does not occur. */
const SEPARATOR = '|'

/** Jobs before the commit whose ids are read again, so that what was answered is known after a restart. */
const LOOK_BACK = 1000

/** Jobs that are known to have been begun, of each partition. */
const KNOWN_IDS = 20_000

/** What a partition needs. */
export interface JudgePartitionParts {
  readonly number: number
  /** What the last owner has committed; `undefined` if there was none. */
  readonly committed: Commit | undefined
  /** Makes the budget of the partition from what was spent of it. */
  readonly createBudget: (history: BudgetHistory | undefined) => Budget
  readonly report: (message: string) => void
}

/** What a commit holds, and the jobs that it speaks of as done whose judges were asked. */
export interface JudgeCommit {
  readonly commit: Commit
  readonly answered: readonly number[]
}

/**
 * One partition of the jobs: which of them are done, which of their scores were asked for before, and its share of the budget. All of it
 * goes with the partition when it gets another owner.
 */
export class JudgePartition {
  readonly #parts: JudgePartitionParts
  readonly #states: OffsetStates
  readonly budget: Budget
  readonly #waiting: FetchedRecord[] = []
  readonly #known = new BoundedSet(KNOWN_IDS)
  /** Jobs whose judges were asked, or are about to be, and that are not committed as done. */
  readonly #asked = new Set<number>()
  readonly #firstOffset: number
  /** Where looking back has come to. */
  #behind: number
  #waitingBytes = 0
  #isDirty = false
  #end = 0
  /** Whether another process may have the partition by now. */
  isLost = false

  constructor(parts: JudgePartitionParts) {
    this.#parts = parts
    const { offset, metadata } = parts.committed ?? { offset: 0, metadata: '' }
    const [states = '', spending] = metadata.split(SEPARATOR)
    this.#states = new OffsetStates({ offset, metadata: states })
    this.#firstOffset = offset
    this.#behind = Math.max(0, offset - LOOK_BACK)
    const history = spending === undefined ? undefined : decodeSpending(spending)
    if (metadata !== '' && history === undefined) {
      parts.report(`What partition ${parts.number} of the jobs has spent cannot be read: its budget begins anew.`)
    }
    this.budget = parts.createBudget(history)
  }

  get number(): number {
    return this.#parts.number
  }

  /** The offset to read next. */
  get next(): number {
    return this.#behind < this.#firstOffset ? this.#behind : this.#states.next
  }

  /** Jobs that are not done. */
  get lag(): number {
    return this.#states.size + Math.max(0, this.#end - this.#states.next)
  }

  /** Jobs that were read and wait for their turn. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Their bytes. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Jobs whose judges were asked, or are about to be, and that are not committed as done. */
  get inFlight(): number {
    return this.#asked.size
  }

  /** The broker says where the partition ends. */
  endsAt(_topic: string, end: number): void {
    this.#end = end
  }

  /**
   * Takes what was read.
   *
   * @param next The offset to read next.
   */
  take(records: readonly FetchedRecord[], next: number): void {
    for (const record of records) this.#takeOne(record)
    if (this.#behind < this.#firstOffset) this.#behind = next
    else if (next > this.#states.next) this.#states.add(next - 1, 'finished')
  }

  /** The broker has dropped what comes before an offset. @returns How many jobs are gone that were not read */
  skipTo(first: number): number {
    if (first <= this.#firstOffset) {
      this.#behind = first
      return 0
    }
    this.#behind = this.#firstOffset
    const gone = Math.max(0, first - this.#states.next)
    this.#states.skipTo(first)
    this.#isDirty = true
    return gone
  }

  /** The job that has waited longest, and whether the same was begun before: it is on the topic twice, and asked once. */
  begin(): { readonly record: FetchedRecord; readonly isKnown: boolean } | undefined {
    const record = this.#waiting.shift()
    if (record === undefined) return undefined
    this.#waitingBytes -= record.value.byteLength
    const isKnown = this.#known.has(record.key)
    if (record.key !== '') this.#known.add(record.key)
    return { record, isKnown }
  }

  /** The judge of a job is about to be asked. What is set aside for it is to be committed before. */
  asks(offset: number): void {
    this.#asked.add(offset)
    this.#isDirty = true
  }

  /** The judge of a job was not asked after all. */
  asksNot(offset: number): void {
    this.#asked.delete(offset)
    this.#isDirty = true
  }

  /** Nothing of a job is needed any more. */
  finish(offset: number): void {
    this.#states.set(offset, 'finished')
    this.#isDirty = true
  }

  /** What was spent, with nothing done from an offset on: for a partition whose messages are not those that were read. */
  commitAt(offset: number): Commit {
    return { offset, metadata: SEPARATOR + encodeSpending(this.budget.history()) }
  }

  /** What to commit; `undefined` if nothing has changed since the last call. */
  takeCommit(): JudgeCommit | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const { offset, metadata } = this.#states.commit()
    return {
      commit: { offset, metadata: metadata + SEPARATOR + encodeSpending(this.budget.history()) },
      answered: [...this.#asked].filter((each) => this.#states.stateOf(each) === 'finished'),
    }
  }

  /** The broker has taken a commit. */
  committed({ answered }: JudgeCommit): void {
    for (const offset of answered) this.#asked.delete(offset)
  }

  /** The broker has not taken a commit. */
  notCommitted(): void {
    this.#isDirty = true
  }

  #takeOne(record: FetchedRecord): void {
    const { offset, key } = record
    const isDone = this.#states.before.stateOf(offset) === 'finished'
    if (isDone && key !== '') this.#known.add(key)
    if (offset < this.#firstOffset) return
    this.#states.add(offset, isDone ? 'finished' : 'open')
    if (isDone) return
    this.#waiting.push(record)
    this.#waitingBytes += record.value.byteLength
  }
}

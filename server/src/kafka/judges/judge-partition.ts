import type { Budget, BudgetHistory } from 'spanscore/engine'

import { BoundedSet } from '../../traces/bounded-set.ts'
import { OffsetStates } from '../offset-states.ts'
import type { Commit } from '../offset-states.ts'
import { ReadProgress } from '../read-progress.ts'
import type { FetchedRecord } from '../records-of.ts'
import { decodeSpending, encodeSpending } from './spending-text.ts'

/** Separates job states and spending in a commit's metadata. It does not occur in base64. */
const SEPARATOR = '|'

/** Jobs before the commit whose ids are read again, to recognise answered jobs after a restart. */
const LOOK_BACK = 1000

/** Started jobs that are remembered for each partition. */
const KNOWN_IDS = 40_000

/** What a partition needs. */
export interface JudgePartitionParts {
  readonly number: number
  /** The last owner's commit; `undefined` if there was none. */
  readonly committed: Commit | undefined
  /** Creates the partition's budget from its earlier spending. */
  readonly createBudget: (history: BudgetHistory | undefined) => Budget
  readonly monotonicMs: () => number
  readonly report: (message: string) => void
}

/** A commit, and the jobs with asked judges that it marks as done. */
export interface JudgeCommit {
  readonly commit: Commit
  readonly answered: readonly number[]
}

/**
 * One partition of jobs: which are done, which questions were asked before, and its share of the budget. All of it moves with the partition
 * to a new owner.
 */
export class JudgePartition {
  readonly #parts: JudgePartitionParts
  readonly #states: OffsetStates
  readonly budget: Budget
  readonly #waiting: FetchedRecord[] = []
  readonly #known = new BoundedSet(KNOWN_IDS)
  /** Jobs whose judges were asked or are about to be, and that are not committed as done. */
  readonly #asked = new Set<number>()
  readonly #firstOffset: number
  readonly #progress: ReadProgress
  /** The current position of looking back. */
  #behind: number
  #waitingBytes = 0
  #isDirty = false
  /** Whether another process may have the partition by now. */
  isLost = false

  constructor(parts: JudgePartitionParts) {
    this.#parts = parts
    this.#progress = new ReadProgress(parts.monotonicMs)
    const { offset, metadata } = parts.committed ?? { offset: 0, metadata: '' }
    const [states = '', spending] = metadata.split(SEPARATOR)
    this.#states = new OffsetStates({ offset, metadata: states })
    this.#firstOffset = offset
    this.#behind = Math.max(0, offset - LOOK_BACK)
    const history = spending === undefined ? undefined : decodeSpending(spending)
    if (metadata !== '' && history === undefined) {
      parts.report(`What partition ${parts.number} of the jobs has spent cannot be read: its budget starts again.`)
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

  /** Unfinished jobs. */
  get lag(): number {
    return this.#states.size + this.#progress.lagFrom(this.#states.next)
  }

  /** Whether jobs were read and are not done, or wait at a leader that answers. */
  get hasWork(): boolean {
    return this.#states.size > 0 || (this.lag > 0 && !this.isSilent)
  }

  /** Whether the leader does not answer. */
  get isSilent(): boolean {
    return this.#progress.isSilent
  }

  /** Jobs that were read and wait. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Their bytes. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** Jobs whose judges were asked or are about to be, and that are not committed as done. */
  get inFlight(): number {
    return this.#asked.size
  }

  /** Called with the partition's end, as its leader reports it. */
  endsAt(_topic: string, end: number): void {
    this.#progress.endsAt(end)
  }

  /**
   * Accepts records.
   *
   * @param next the offset to read next
   */
  take(records: readonly FetchedRecord[], next: number): void {
    for (const record of records) this.#takeOne(record)
    if (this.#behind < this.#firstOffset) this.#behind = next
    else this.#states.advance(next)
  }

  /** The broker dropped everything before an offset. @returns how many jobs are lost that were not done */
  skipTo(first: number): number {
    if (first <= this.#firstOffset) {
      this.#behind = first
      return 0
    }
    this.#behind = this.#firstOffset
    this.#isDirty = true
    return this.#states.skipTo(first)
  }

  /** The job that has waited longest, and whether the same job was started before. Duplicates on the topic are asked once. */
  begin(): { readonly record: FetchedRecord; readonly isKnown: boolean } | undefined {
    const record = this.#waiting.shift()
    if (record === undefined) return undefined
    this.#waitingBytes -= record.value.byteLength
    const isKnown = this.#known.has(record.key)
    if (record.key !== '') this.#known.add(record.key)
    return { record, isKnown }
  }

  /** A job's judge is about to be asked. Its reservation must be committed first. */
  willAsk(offset: number): void {
    this.#asked.add(offset)
    this.#isDirty = true
  }

  /** A job's judge was not asked after all. */
  didNotAsk(offset: number): void {
    this.#asked.delete(offset)
    this.#isDirty = true
  }

  /** A job is no longer needed. */
  finish(offset: number): void {
    this.#states.set(offset, 'finished')
    this.#isDirty = true
  }

  /** The spending, with nothing done from an offset on, for a partition whose messages have been replaced. */
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

  /** The broker accepted a commit. */
  committed({ answered }: JudgeCommit): void {
    for (const offset of answered) this.#asked.delete(offset)
  }

  /** The broker did not accept a commit. */
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

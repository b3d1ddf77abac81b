import type { ScoreAttributes } from '../../emit/score-attributes.ts'
import { putScores } from './replace-score-attributes.ts'
import type { EndedSpan } from '../sdk-types.ts'

/** Bounds of holding, and where the spans go. */
export interface HeldSpansOptions {
  readonly maxHeld: number
  readonly holdMs: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Hands a span on, with the scores that came while it was held. */
  readonly release: (span: EndedSpan, scores: ScoreAttributes) => void
}

/** One agent span that waits for its scores. */
export interface HeldSpan {
  /** Adds a score's attributes; false where the span has gone on already. */
  stamp(attributes: ScoreAttributes): boolean
  /** To be called once for each score that was waited for, whatever came of it. */
  scoreIsIn(): void
  /** Whether the span has not gone on. */
  readonly isHeld: boolean
}

interface Entry {
  readonly span: EndedSpan
  readonly scores: ScoreAttributes
  readonly deadlineMs: number
  awaited: number
}

/**
 * Agent spans on their way to the processors behind, held until their scores are in, for `holdMs` at most. They go on in the
 * order in which they ended, whichever scores come first; when there are more than `maxHeld`, the oldest goes on as it is.
 */
export class HeldSpans {
  readonly #options: HeldSpansOptions
  /** In the order of their ends, which is that of their deadlines. */
  readonly #held = new Set<Entry>()

  constructor(options: HeldSpansOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#held.size
  }

  /** When the oldest has been held long enough, on the clock of `now`. */
  get nextDeadlineMs(): number | undefined {
    if (this.#held.size === 0) return undefined
    const [oldest] = this.#held
    return oldest?.deadlineMs
  }

  /** Holds a span that has ended until `awaited` scores are in. */
  hold(span: EndedSpan, awaited: number): HeldSpan {
    const { now, holdMs, maxHeld } = this.#options
    const entry: Entry = { span, scores: {}, awaited, deadlineMs: now() + holdMs }
    this.#held.add(entry)
    while (this.#held.size > maxHeld) this.#releaseOldest()
    const isHeld = () => this.#held.has(entry)
    return {
      get isHeld() {
        return isHeld()
      },
      stamp: (attributes) => {
        if (!isHeld()) return false
        putScores(entry.scores, attributes)
        return true
      },
      scoreIsIn: () => {
        entry.awaited -= 1
        this.#releaseReady()
      },
    }
  }

  /** Lets go of those that have been held long enough. */
  sweep(): void {
    const nowMs = this.#options.now()
    for (let due = this.nextDeadlineMs; due !== undefined && due <= nowMs; due = this.nextDeadlineMs) {
      this.#releaseOldest()
    }
    this.#releaseReady()
  }

  /** Lets go of all of them, with the scores that they have. */
  releaseAll(): void {
    while (this.#held.size > 0) this.#releaseOldest()
  }

  #releaseReady(): void {
    for (const entry of this.#held) {
      if (entry.awaited > 0) return
      this.#release(entry)
    }
  }

  #releaseOldest(): void {
    const [oldest] = this.#held
    if (oldest) this.#release(oldest)
  }

  #release(entry: Entry): void {
    this.#held.delete(entry)
    this.#options.release(entry.span, entry.scores)
  }
}

import type { ScoreAttributes } from '../../emit/score-attributes.ts'
import type { CancelDeadline, Scheduler } from '../scheduler.ts'
import type { EndedSpan } from '../sdk-types.ts'
import { replaceScoreAttributes } from './replace-score-attributes.ts'

/** Bounds of holding, and where the spans go. */
export interface HeldSpansOptions {
  readonly maxHeld: number
  readonly holdMs: number
  readonly scheduler: Pick<Scheduler, 'after'>
  /** Hands a span on, with the scores that came while it was held. */
  readonly release: (span: EndedSpan, scores: ScoreAttributes) => void
}

/** One agent span that waits for its scores. */
export interface HeldSpan {
  /** Whether the span has not gone on. */
  readonly isHeld: boolean
  /** Adds a score's attributes; false where the span has gone on already. */
  stamp(attributes: ScoreAttributes): boolean
  /** Must be called when no score is waited for any more. */
  ready(): void
}

interface Entry {
  readonly span: EndedSpan
  readonly scores: ScoreAttributes
  isReady: boolean
  cancel: CancelDeadline
}

/**
 * Agent spans on their way to the processors behind, held until their scores are in, for `holdMs` at most. They go on in the
 * order in which they ended, whichever scores come first; when there are more than `maxHeld`, the oldest goes on as it is.
 */
export class HeldSpans {
  readonly #options: HeldSpansOptions
  /** In the order of their ends. */
  readonly #held = new Set<Entry>()

  constructor(options: HeldSpansOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#held.size
  }

  /** Holds a span that has ended. */
  hold(span: EndedSpan): HeldSpan {
    const { scheduler, holdMs, maxHeld } = this.#options
    const entry: Entry = { span, scores: {}, isReady: false, cancel: () => undefined }
    this.#held.add(entry)
    // Spans are held equally long: those before this one have gone on by then.
    entry.cancel = scheduler.after(holdMs, () => this.#letGo(entry))
    while (this.#held.size > maxHeld) this.#releaseOldest()
    const isHeld = (): boolean => this.#held.has(entry)
    return {
      get isHeld() {
        return isHeld()
      },
      stamp: (attributes) => {
        if (!isHeld()) return false
        replaceScoreAttributes(entry.scores, attributes)
        return true
      },
      ready: () => {
        entry.isReady = true
        this.#releaseReady()
      },
    }
  }

  /** Lets go of all of them, with the scores that they have. */
  releaseAll(): void {
    while (this.#held.size > 0) this.#releaseOldest()
  }

  #letGo(entry: Entry): void {
    this.#release(entry)
    this.#releaseReady()
  }

  #releaseReady(): void {
    for (const entry of this.#held) {
      if (!entry.isReady) return
      this.#release(entry)
    }
  }

  #releaseOldest(): void {
    const [oldest] = this.#held
    if (oldest) this.#release(oldest)
  }

  #release(entry: Entry): void {
    entry.cancel()
    this.#held.delete(entry)
    this.#options.release(entry.span, entry.scores)
  }
}

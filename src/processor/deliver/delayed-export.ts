import type { ScoreAttributes } from '../../attributes/attribute-table.ts'
import { after } from '../../scoring/after.ts'
import type { Cancel } from '../../scoring/after.ts'
import { eachInSteps } from '../../scoring/background.ts'
import type { WorkSteps } from '../../scoring/background.ts'
import type { EndedSpan } from '../../spans/sdk-types.ts'
import { replaceScoreAttributes } from './replace-score-attributes.ts'

/** The limits of holding, and where to release spans. */
export interface HeldSpansOptions {
  /** Maximum milliseconds to hold a span. */
  readonly holdMs: number
  /** Releases a span with the scores that arrived while it was held. Must not throw. */
  readonly release: (span: EndedSpan, scores: ScoreAttributes) => void
}

/** An agent span that waits for its scores. */
export interface UndeliveredSpan {
  /** Whether the span is still held. */
  readonly isHeld: boolean
  /** Adds a score's attributes; false if the span was already released. */
  stamp(attributes: ScoreAttributes): boolean
  /** Must be called when no more scores are pending. */
  ready(): void
}

interface Entry {
  readonly span: EndedSpan
  readonly scores: ScoreAttributes
  cancel: Cancel
}

/** Holds each agent span until its scores are in, for at most `holdMs`. The queue bounds how many are held: each waits for a score in it. */
export class DelayedExport {
  readonly #options: HeldSpansOptions
  /** In the order in which they ended. */
  readonly #held = new Set<Entry>()

  constructor(options: HeldSpansOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#held.size
  }

  /** Holds an ended span. */
  hold(span: EndedSpan): UndeliveredSpan {
    const entry: Entry = { span, scores: {}, cancel: () => undefined }
    this.#held.add(entry)
    entry.cancel = after(this.#options.holdMs, () => this.#release(entry))
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
      ready: () => this.#release(entry),
    }
  }

  /** Releases all spans with the scores that they have, because the process is about to exit. */
  releaseAll(): void {
    for (const entry of this.#held) this.#release(entry)
  }

  /** Releases the spans that are held now, in steps. */
  releaseInSteps(): WorkSteps {
    return eachInSteps([...this.#held], (entry) => this.#release(entry))
  }

  #release(entry: Entry): void {
    entry.cancel()
    if (this.#held.delete(entry)) this.#options.release(entry.span, entry.scores)
  }
}

import type { ScoreAttributes } from '../../emit/score-attributes.ts'
import { eachInSteps } from '../../scoring/in-slices.ts'
import type { CancelDeadline, Scheduler } from '../scheduler.ts'
import type { EndedSpan } from '../sdk-types.ts'
import { replaceScoreAttributes } from './replace-score-attributes.ts'

/** The limits of holding, and where to release spans. */
export interface HeldSpansOptions {
  /** Maximum number of held spans. */
  readonly maxHeld: number
  /** Maximum milliseconds to hold a span. */
  readonly holdMs: number
  /** Ends the holding at its deadline. */
  readonly scheduler: Pick<Scheduler, 'after'>
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Releases a span with the scores that arrived while it was held. */
  readonly release: (span: EndedSpan, scores: ScoreAttributes) => void
}

/** An agent span that waits for its scores. */
export interface HeldSpan {
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
  isReady: boolean
  cancel: CancelDeadline
}

/** Maximum milliseconds of one turn of the event loop for spans that waited for an older one: hundreds may wait for a judge that hangs. */
const SLICE_MS = 5

/**
 * Holds agent spans until their scores are in, for at most `holdMs`. Spans are released in the order in which they ended, whichever scores
 * arrive first. Above `maxHeld`, the oldest is released as it is.
 */
export class HeldSpans {
  readonly #options: HeldSpansOptions
  /** In the order in which they ended. */
  readonly #held = new Set<Entry>()
  /** Whether spans are released in the next turn of the event loop. */
  #goesOn = false

  constructor(options: HeldSpansOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#held.size
  }

  /** Holds an ended span. */
  hold(span: EndedSpan): HeldSpan {
    const { scheduler, holdMs, maxHeld } = this.#options
    const entry: Entry = { span, scores: {}, isReady: false, cancel: () => undefined }
    this.#held.add(entry)
    // All spans are held for the same time, so earlier ones are already released by then.
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
        if (!this.#goesOn) this.#releaseReady()
      },
    }
  }

  /** Releases all spans with the scores that they have, because the process is about to exit. */
  releaseAll(): void {
    while (this.#held.size > 0) this.#releaseOldest()
  }

  /** Releases the spans that are held now, in steps. */
  releaseInSteps(): Generator<undefined, void> {
    return eachInSteps([...this.#held], (entry) => {
      if (this.#held.has(entry)) this.#release(entry)
    })
  }

  #letGo(entry: Entry): void {
    this.#release(entry)
    if (!this.#goesOn) this.#releaseReady()
  }

  /** Releases the oldest spans that are ready, as far as there is time, and the rest in later turns. */
  #releaseReady(): void {
    const { now, scheduler } = this.#options
    const endMs = now() + SLICE_MS
    for (const entry of this.#held) {
      if (!entry.isReady) return
      if (now() >= endMs) {
        this.#goesOn = true
        scheduler.after(0, () => {
          this.#goesOn = false
          this.#releaseReady()
        })
        return
      }
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

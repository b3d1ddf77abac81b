import { detached } from './isolation.ts'

/** Work in steps of a millisecond or less, so that it can be spread over turns of the event loop. */
export type WorkSteps<Result = void> = Generator<undefined, Result>

/** Maximum milliseconds of one turn of the event loop. */
const SLICE_MS = 5

/**
 * All work that may take long: one queue, whose first work is done first. Each turn of the event loop does a few milliseconds of it, so that
 * the application is not blocked.
 */
export class Background {
  readonly #now: () => number
  readonly #waiting: Work[] = []
  #isScheduled = false

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /**
   * Does work in later turns of the event loop. Rejects if a step throws.
   *
   * @param isUrgent whether to do it before all work that waits by now, instead of after it
   */
  run<Result>(steps: WorkSteps<Result>, isUrgent = false): Promise<Result> {
    return new Promise((resolve, reject) => {
      const work: Work = () => {
        try {
          const step = steps.next()
          if (step.done !== true) return false
          resolve(step.value)
        } catch (error) {
          reject(error)
        }
        return true
      }
      if (isUrgent) this.#waiting.unshift(work)
      else this.#waiting.push(work)
      this.#schedule()
    })
  }

  /** Resolves when all work that waits by now is done. */
  done(): Promise<void> {
    return this.#waiting.length === 0 ? Promise.resolve() : this.run(nothing())
  }

  /** Does as much work as there is time for, now. */
  work(maxMs: number): void {
    const endMs = this.#now() + maxMs
    // While a step runs, its work is not in the queue: a callback of the step may shut scoring down, which comes here again.
    for (let first = this.#waiting.shift(); first !== undefined; first = this.#waiting.shift()) {
      if (!first()) this.#waiting.unshift(first)
      if (this.#now() >= endMs) return
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    detached(() =>
      setImmediate(() => {
        this.#isScheduled = false
        this.work(SLICE_MS)
        if (this.#waiting.length > 0) this.#schedule()
      }),
    )
  }
}

/** Does a step, and returns whether the work is done. */
type Work = () => boolean

function* nothing(): WorkSteps {}

/** Does all steps now. */
export function withoutPause<Result>(steps: WorkSteps<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Does something with each item, in steps. */
export function* eachInSteps<Item>(items: Iterable<Item>, act: (item: Item) => void): WorkSteps {
  for (const item of items) {
    act(item)
    yield
  }
}

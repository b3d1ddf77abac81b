import type { LiveRun } from '../runs/live/live-run.ts'
import { detached } from '../scoring/isolation.ts'
import { inNextTurn } from '../scoring/host-timers.ts'
import { isTooLarge } from './run/admission.ts'

/** Most milliseconds of one turn of the event loop for reading runs. */
const SLICE_MS = 5

/** Settled runs that are too large to be read while a span is ending. Each is read over several turns of the event loop. */
export class LargeRuns {
  readonly #runs: LiveRun[] = []
  readonly #whenEmpty: (() => void)[] = []
  readonly #now: () => number
  readonly #lookAt: (run: LiveRun) => void

  /**
   * @param now a monotonic clock, in milliseconds
   * @param lookAt called with each run once it can be put together quickly
   */
  constructor(now: () => number, lookAt: (run: LiveRun) => void) {
    this.#now = now
    this.#lookAt = lookAt
  }

  add(run: LiveRun): void {
    if (this.#runs.push(run) === 1) this.#readOnLater()
  }

  /** Resolves when all runs that are waiting now have been passed to `lookAt`. */
  settled(): Promise<void> {
    return this.#runs.length === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenEmpty.push(resolve))
  }

  /** Finishes all waiting runs in this turn. */
  finish(): void {
    for (const run of this.#runs.splice(0)) this.#lookAt(run)
    this.#emptied()
  }

  #emptied(): void {
    for (const resolve of this.#whenEmpty.splice(0)) resolve()
  }

  #readOnLater(): void {
    detached(() => inNextTurn(() => this.#readOn()))
  }

  #readOn(): void {
    const endMs = this.#now() + SLICE_MS
    const [run] = this.#runs
    if (run === undefined) return
    if (isTooLarge(run) || run.readAhead(() => this.#now() >= endMs)) {
      this.#runs.shift()
      this.#lookAt(run)
    }
    if (this.#runs.length > 0) this.#readOnLater()
    else this.#emptied()
  }
}

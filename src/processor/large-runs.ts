import type { LiveRun } from '../runs/live/live-run.ts'
import { detached } from '../scoring/isolation.ts'
import { inNextTurn } from '../scoring/host-timers.ts'
import { isTooLarge } from './run/admission.ts'

/** Maximum milliseconds of one turn of the event loop for reading runs. */
const SLICE_MS = 5

/** Settled runs that are too large to be read while a span is ending. Each is read over several turns of the event loop. */
export class LargeRuns {
  readonly #runs: LiveRun[] = []
  /** By the last run that somebody waits for. */
  readonly #whenSeen = new Map<LiveRun, (() => void)[]>()
  readonly #now: () => number
  readonly #lookAt: (run: LiveRun, isRead: boolean) => void

  /**
   * @param now a monotonic clock, in milliseconds
   * @param lookAt called with each run once it can be put together quickly; `isRead` is false if it was dropped before that
   */
  constructor(now: () => number, lookAt: (run: LiveRun, isRead: boolean) => void) {
    this.#now = now
    this.#lookAt = lookAt
  }

  add(run: LiveRun): void {
    if (this.#runs.push(run) === 1) this.#readOnLater()
  }

  /** Resolves when all runs that are waiting now have been passed to `lookAt`. */
  settled(): Promise<void> {
    const last = this.#runs.at(-1)
    if (last === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      this.#whenSeen.set(last, [...(this.#whenSeen.get(last) ?? []), resolve])
    })
  }

  /** Drops the runs that have not been read. */
  giveUp(): void {
    for (const run of this.#runs.splice(0)) this.#seen(run, false)
  }

  #seen(run: LiveRun, isRead: boolean): void {
    this.#lookAt(run, isRead)
    const resolves = this.#whenSeen.get(run) ?? []
    this.#whenSeen.delete(run)
    for (const resolve of resolves) resolve()
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
      this.#seen(run, true)
    }
    if (this.#runs.length > 0) this.#readOnLater()
  }
}

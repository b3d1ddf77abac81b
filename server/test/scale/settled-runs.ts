import type { RunningWorker } from '../../src/start-worker.ts'

interface Sample {
  readonly atMs: number
  readonly runs: number
}

const EVERY_MS = 20

/** How many runs a worker has settled by each moment, according to its own count. */
export class SettledRuns implements Disposable {
  readonly #samples: Sample[] = []
  readonly #timer: NodeJS.Timeout

  constructor(worker: RunningWorker) {
    this.#timer = setInterval(() => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the counts of a worker
      const { traces } = worker.counts() as { traces: { runs: number; revisions: number } }
      this.#samples.push({ atMs: performance.now(), runs: traces.runs + traces.revisions })
    }, EVERY_MS)
  }

  /** The maximum number of runs that were settled within any window of this many milliseconds, between two times. */
  most(fromMs: number, untilMs: number, withinMs: number): number {
    const samples = this.#samples.filter(({ atMs }) => atMs >= fromMs && atMs <= untilMs)
    let first = 0
    let most = 0
    for (const { atMs, runs } of samples) {
      while ((samples[first]?.atMs ?? atMs) < atMs - withinMs) first += 1
      most = Math.max(most, runs - (samples[first]?.runs ?? runs))
    }
    return most
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}

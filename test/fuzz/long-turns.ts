import { PerformanceObserver } from 'node:perf_hooks'

/** Collections of garbage shorter than this are not remembered. */
const LEAST_COLLECTION_MS = 2

/** A turn that took long, with its description. */
interface LongTurn {
  readonly what: string
  /** The seed of what was played, if it was random. */
  readonly seed: number | undefined
  readonly beginMs: number
  readonly endMs: number
  readonly cpuMs: number
  /** What ran in the turn, if that was sampled. */
  ran?: string
}

/** A turn that took long by itself. */
export interface OwnTurn {
  /** The seed of what was played, if it was random. */
  readonly seed: number | undefined
  /** What it did, how long it took, and what ran. */
  readonly text: string
}

/**
 * Finds hooks and turns that take long by themselves: by the processor time of their thread, less the collections of garbage that
 * fell into them. Code that is preempted by other processes is not slow, and a collection may clean up the garbage of other code.
 */
export class LongTurns {
  /** Hooks and turns that were measured. */
  count = 0
  readonly #limitMs: number
  readonly #long: LongTurn[] = []
  readonly #collections: { readonly beginMs: number; readonly endMs: number }[] = []
  readonly #observer: PerformanceObserver

  constructor(limitMs: number) {
    this.#limitMs = limitMs
    this.#observer = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) {
        if (duration >= LEAST_COLLECTION_MS) {
          this.#collections.push({ beginMs: startTime, endMs: startTime + duration })
        }
      }
    })
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  /** Starts a measurement; the returned function ends it. */
  begin(what: string, seed?: number): () => void {
    const [beginMs, beginUs] = [performance.now(), threadCpuUs()]
    return () => {
      this.count += 1
      const cpuMs = (threadCpuUs() - beginUs) / 1000
      if (cpuMs > this.#limitMs) this.#long.push({ what, seed, beginMs, endMs: performance.now(), cpuMs })
    }
  }

  /** Finds what ran in those long turns for which that is not known yet. */
  explain(whatRan: (beginMs: number, endMs: number) => string): void {
    for (const turn of this.#long) turn.ran ??= whatRan(turn.beginMs, turn.endMs)
  }

  /** The turns that took longer than the limit without their collections of garbage, and those that did so only with them. */
  report(): { readonly own: readonly OwnTurn[]; readonly withGarbage: number } {
    this.#observer.disconnect()
    const own: OwnTurn[] = []
    for (const { what, seed, beginMs, endMs, cpuMs, ran } of this.#long) {
      const collectionsMs = this.#collections.reduce(
        (sum, one) => sum + Math.max(0, Math.min(endMs, one.endMs) - Math.max(beginMs, one.beginMs)),
        0,
      )
      if (cpuMs - collectionsMs <= this.#limitMs) continue
      const played = seed === undefined ? what : `${what}, seed ${seed}`
      const took = `${played}: ${(cpuMs - collectionsMs).toFixed(0)} of ${cpuMs.toFixed(0)} ms`
      own.push({ seed, text: ran === undefined ? took : `${took}; ${ran}` })
    }
    return { own, withGarbage: this.#long.length - own.length }
  }
}

function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

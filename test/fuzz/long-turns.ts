import { PerformanceObserver } from 'node:perf_hooks'

/** Collections of garbage shorter than this are not remembered. */
const LEAST_COLLECTION_MS = 2

/** A turn that took long, with its description. */
interface LongTurn {
  readonly what: string
  readonly beginMs: number
  readonly endMs: number
  readonly cpuMs: number
  /** What ran in the turn, if that was sampled. */
  ran?: string
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
  begin(what: string): () => void {
    const [beginMs, beginUs] = [performance.now(), threadCpuUs()]
    return () => {
      this.count += 1
      const cpuMs = (threadCpuUs() - beginUs) / 1000
      if (cpuMs > this.#limitMs) this.#long.push({ what, beginMs, endMs: performance.now(), cpuMs })
    }
  }

  /** Finds what ran in those long turns for which that is not known yet. */
  explain(whatRan: (beginMs: number, endMs: number) => string): void {
    for (const turn of this.#long) turn.ran ??= whatRan(turn.beginMs, turn.endMs)
  }

  /** The turns that took longer than the limit without their collections of garbage, and those that did so only with them. */
  report(): { readonly own: readonly string[]; readonly withGarbage: number } {
    this.#observer.disconnect()
    const all = this.#long.map(({ what, beginMs, endMs, cpuMs, ran }) => {
      const collectionsMs = this.#collections.reduce(
        (sum, one) => sum + Math.max(0, Math.min(endMs, one.endMs) - Math.max(beginMs, one.beginMs)),
        0,
      )
      return { what, ownMs: cpuMs - collectionsMs, cpuMs, ran }
    })
    const own = all.filter(({ ownMs }) => ownMs > this.#limitMs)
    return {
      own: own.map(({ what, ownMs, cpuMs, ran }) => {
        const took = `${what}: ${ownMs.toFixed(0)} of ${cpuMs.toFixed(0)} ms`
        return ran === undefined ? took : `${took}; ${ran}`
      }),
      withGarbage: all.length - own.length,
    }
  }
}

function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

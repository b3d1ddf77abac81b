import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'

import { TurnProfiler } from '../fuzz/turn-profiler.ts'

/** Milliseconds above which a turn of the event loop is a stall. */
const STALL_MS = 20

/** An entry of type `gc`; the types of Node leave its detail open. */
interface GarbageCollection {
  readonly duration: number
  readonly detail?: { readonly flags?: number }
}

/** How the event loop did while it was watched. */
export interface EventLoopReport {
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Stalls in which this process's main thread computed for more than 20 ms: milliseconds each, and what ran. */
  readonly busy: readonly { readonly ms: number; readonly ran: string }[]
  /** Number of the other stalls, in which the machine gave its cores to other processes. */
  readonly preempted: number
  /** The longest pause of the garbage collector that was not requested by `gc()`. */
  readonly longestCollectionMs: number
}

/**
 * Watches the event loop by `monitorEventLoopDelay`, and by a heartbeat that asks how much CPU time the main thread took since
 * the last beat: on a shared machine, a late beat alone does not show which process was late.
 */
export class EventLoopWatch {
  readonly #delays = monitorEventLoopDelay({ resolution: 1 })
  readonly #busy: { readonly ms: number; readonly ran: string }[] = []
  readonly #profiler = new TurnProfiler()
  /** Those since the watch was resumed. */
  #latest: { readonly ms: number; readonly beginMs: number; readonly endMs: number }[] = []
  readonly #collections: PerformanceObserver
  #preempted = 0
  #longestCollectionMs = 0
  #watchedMs = 0
  #lastMs = 0
  #lastCpuUs = 0
  #timer: NodeJS.Timeout | undefined

  constructor() {
    this.#collections = new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as GarbageCollection[]) {
        if (isForced(entry)) continue
        this.#longestCollectionMs = Math.max(this.#longestCollectionMs, entry.duration)
      }
    })
    this.#collections.observe({ entryTypes: ['gc'] })
  }

  resume(): void {
    this.#profiler.start()
    this.#lastMs = performance.now()
    this.#lastCpuUs = threadCpuUs()
    this.#delays.enable()
    this.#timer = setInterval(() => this.#beat(), 1)
  }

  pause(): void {
    this.#beat()
    this.#delays.disable()
    clearInterval(this.#timer)
    const whatRan = this.#profiler.stop()
    for (const { ms, beginMs, endMs } of this.#latest) this.#busy.push({ ms, ran: whatRan(beginMs, endMs) })
    this.#latest = []
  }

  report(): EventLoopReport {
    this.#collections.disconnect()
    return {
      seconds: this.#watchedMs / 1000,
      p50Ms: toMs(this.#delays.percentile(50)),
      p99Ms: toMs(this.#delays.percentile(99)),
      maxMs: toMs(this.#delays.max),
      busy: this.#busy,
      preempted: this.#preempted,
      longestCollectionMs: this.#longestCollectionMs,
    }
  }

  #beat(): void {
    const [nowMs, cpuUs] = [performance.now(), threadCpuUs()]
    const beginMs = this.#lastMs
    const passedMs = nowMs - beginMs
    const busyMs = (cpuUs - this.#lastCpuUs) / 1000
    this.#watchedMs += passedMs
    this.#lastMs = nowMs
    this.#lastCpuUs = cpuUs
    if (passedMs <= STALL_MS) return
    if (busyMs > STALL_MS) this.#latest.push({ ms: busyMs, beginMs, endMs: nowMs })
    else this.#preempted += 1
  }
}

/** Whether `gc()` requested the collection. */
function isForced(entry: GarbageCollection): boolean {
  return ((entry.detail?.flags ?? 0) & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0
}

function toMs(nanoseconds: number): number {
  return nanoseconds / 1e6
}

function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

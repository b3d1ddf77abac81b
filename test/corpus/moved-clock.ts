import { setImmediate as nextTurn } from 'node:timers/promises'

interface SetTimer {
  readonly atMs: number
  readonly everyMs: number | undefined
  readonly run: () => void
}

const real = { setTimeout, clearTimeout, setInterval, clearInterval }
const realNow = { date: Date.now, performance: performance.now }

/** The clock of the process, which stands still until it is moved. Timers come due while it moves, each at its own time. */
export class MovedClock implements Disposable {
  #nowMs: number
  readonly #timers = new Map<object, SetTimer>()

  /** @param nowMs milliseconds since 1970 */
  constructor(nowMs: number) {
    this.#nowMs = nowMs
    Date.now = () => Math.floor(this.#nowMs)
    performance.now = () => this.#nowMs - nowMs
    const set = (run: (...args: unknown[]) => void, ms = 0, isRepeated = false, args: readonly unknown[] = []) => {
      const delayMs = Math.max(1, ms)
      const timer = { ref: () => timer, unref: () => timer, hasRef: () => false }
      const everyMs = isRepeated ? delayMs : undefined
      this.#timers.set(timer, { atMs: this.#nowMs + delayMs, everyMs, run: () => run(...args) })
      return timer
    }
    const clear = (timer: unknown) => {
      // A timer that was set before the clock stood still is one of the process.
      if (typeof timer !== 'object' || timer === null || !this.#timers.delete(timer)) real.clearTimeout(timer as never)
    }
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms?: number, ...args: unknown[]) => set(run, ms, false, args),
      setInterval: (run: () => void, ms?: number, ...args: unknown[]) => set(run, ms, true, args),
      clearTimeout: clear,
      clearInterval: clear,
    })
  }

  /** Moves the clock forward to a time, and then waits for a turn of the event loop. A time that is past changes nothing. */
  async moveTo(timeMs: number): Promise<void> {
    if (!(timeMs > this.#nowMs)) return
    for (;;) {
      const next = [...this.#timers]
        .filter(([, { atMs }]) => atMs <= timeMs)
        .toSorted(([, left], [, right]) => left.atMs - right.atMs)
        .at(0)
      if (next === undefined) break
      const [timer, { atMs, everyMs, run }] = next
      this.#nowMs = Math.max(this.#nowMs, atMs)
      if (everyMs === undefined) this.#timers.delete(timer)
      else this.#timers.set(timer, { atMs: atMs + everyMs, everyMs, run })
      run()
      await nextTurn()
    }
    this.#nowMs = timeMs
    await nextTurn()
  }

  /** Moves the clock forward. */
  moveBy(ms: number): Promise<void> {
    return this.moveTo(this.#nowMs + ms)
  }

  [Symbol.dispose](): void {
    Object.assign(globalThis, real)
    Date.now = realNow.date
    performance.now = realNow.performance
  }
}

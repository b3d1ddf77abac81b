import { EventLoopTurns } from '../scoring/event-loop-turns.ts'
import { startTimer, stopTimer } from '../scoring/host-timers.ts'
import type { Timer } from '../scoring/host-timers.ts'
import { detached } from '../scoring/isolation.ts'
import { unref } from '../scoring/keep-process-alive.ts'

/** Something that knows by itself when it is next due. */
export interface DeadlineSource {
  /** When it is next due, on the scheduler's clock; `undefined` while nothing is. */
  readonly nextDeadlineMs: number | undefined
  /** Does what is due by now. */
  sweep(): void
}

/** Takes a deadline back. Harmless when it has passed. */
export type CancelDeadline = () => void

interface Deadline {
  readonly atMs: number
  readonly due: () => void
}

/** The longest delay that a timer of Node.js takes. */
const MAX_DELAY_MS = 2 ** 31 - 1

/**
 * When things are done: the turns of the event loop in which scorers begin, and the deadlines of one processor, with one timer for the
 * earliest of them: runs that wait for spans, spans that are held, scores that wait or take too long, metrics to be gathered. The timer
 * keeps no process alive, and no request's async context.
 */
export class Scheduler {
  /** Where work that may compute for long begins. */
  readonly turns: EventLoopTurns
  readonly #now: () => number
  readonly #onError: (error: unknown) => void
  readonly #sources: DeadlineSource[] = []
  /** By their wait: of deadlines with the same wait, the first that was set is the first that is due. */
  readonly #deadlines = new Map<number, Set<Deadline>>()
  #timer: Timer | undefined
  #timerAtMs = Number.POSITIVE_INFINITY

  /**
   * @param now A monotonic clock, in milliseconds.
   * @param onError Called with what something that was due threw. Everything else that is due is done nevertheless.
   */
  constructor(now: () => number, onError: (error: unknown) => void) {
    this.#now = now
    this.#onError = onError
    this.turns = new EventLoopTurns(now)
  }

  /** Sweeps a source whenever it is due. */
  watch(source: DeadlineSource): void {
    this.#sources.push(source)
  }

  /** Must be called when a source that is watched may be due earlier than before. */
  changed(source: DeadlineSource): void {
    const atMs = source.nextDeadlineMs
    if (atMs !== undefined && atMs < this.#timerAtMs) this.#setTimer(atMs)
  }

  /** Calls `due` once, after so many milliseconds. */
  after(waitMs: number, due: () => void): CancelDeadline {
    const deadline = { atMs: this.#now() + waitMs, due }
    const line = this.#deadlines.get(waitMs) ?? new Set()
    this.#deadlines.set(waitMs, line.add(deadline))
    if (deadline.atMs < this.#timerAtMs) this.#setTimer(deadline.atMs)
    return () => {
      line.delete(deadline)
    }
  }

  /** Forgets all deadlines. */
  stop(): void {
    stopTimer(this.#timer)
    this.#timerAtMs = Number.POSITIVE_INFINITY
    this.#deadlines.clear()
  }

  #setTimer(atMs: number): void {
    const delayMs = Math.min(Math.max(0, atMs - this.#now()), MAX_DELAY_MS)
    try {
      stopTimer(this.#timer)
      this.#timer = detached(() => unref(startTimer(() => this.#fire(), delayMs)))
      this.#timerAtMs = atMs
    } catch (error) {
      // Timers may be replaced by others that throw: what is due then is done by a flush, or by the next deadline that can be set.
      this.#timerAtMs = Number.POSITIVE_INFINITY
      this.#onError(error)
    }
  }

  #fire(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY
    for (const source of this.#sources) {
      const atMs = source.nextDeadlineMs
      if (atMs !== undefined && atMs <= this.#now()) this.#guard(() => source.sweep())
    }
    for (const [waitMs, line] of this.#deadlines) {
      for (const deadline of line) {
        if (deadline.atMs > this.#now()) break
        line.delete(deadline)
        this.#guard(deadline.due)
      }
      if (line.size === 0) this.#deadlines.delete(waitMs)
    }
    const nextMs = this.#nextMs()
    if (nextMs < this.#timerAtMs) this.#setTimer(nextMs)
  }

  #nextMs(): number {
    let nextMs = Number.POSITIVE_INFINITY
    for (const { nextDeadlineMs } of this.#sources) nextMs = Math.min(nextMs, nextDeadlineMs ?? nextMs)
    for (const line of this.#deadlines.values()) {
      const [first] = line
      nextMs = Math.min(nextMs, first?.atMs ?? nextMs)
    }
    return nextMs
  }

  #guard(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#onError(error)
    }
  }
}

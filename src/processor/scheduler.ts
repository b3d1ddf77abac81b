import { EventLoopTurns } from '../scoring/event-loop-turns.ts'
import { startTimer, stopTimer } from '../scoring/host-timers.ts'
import type { Timer } from '../scoring/host-timers.ts'
import { detached } from '../scoring/isolation.ts'
import { unref } from '../scoring/keep-process-alive.ts'

/** Something with its own next deadline. */
export interface DeadlineSource {
  /** Its next deadline, on the scheduler's clock; `undefined` if it has none. */
  readonly nextDeadlineMs: number | undefined
  /** Does everything that is due. */
  sweep(): void
}

/** Cancels a deadline. It has no effect after the deadline. */
export type CancelDeadline = () => void

interface Deadline {
  readonly atMs: number
  readonly due: () => void
}

/** Maximum milliseconds of one turn of the event loop for deadlines. Thousands may be due at the same time. */
const SLICE_MS = 10

/** The longest delay of a Node.js timer. */
const MAX_DELAY_MS = 2 ** 31 - 1

/**
 * Schedules the turns of the event loop in which scorers start, and all deadlines of one processor, with one timer for the earliest: runs
 * that wait for spans, held spans, scores that wait or take too long, metrics to collect. The timer keeps neither the process nor any
 * request's async context alive.
 */
export class Scheduler {
  /** Where work that may compute for long starts. */
  readonly turns: EventLoopTurns
  readonly #now: () => number
  readonly #onError: (error: unknown) => void
  readonly #sources: DeadlineSource[] = []
  /** Deadlines by their delay. Among deadlines with the same delay, the first that was set is due first. */
  readonly #deadlines = new Map<number, Set<Deadline>>()
  #timer: Timer | undefined
  #timerAtMs = Number.POSITIVE_INFINITY

  /**
   * @param now a monotonic clock, in milliseconds
   * @param onError called with an error of something that was due; everything else that is due still runs
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

  /** Must be called when a watched source may be due earlier than before. */
  changed(source: DeadlineSource): void {
    const atMs = source.nextDeadlineMs
    if (atMs !== undefined && atMs < this.#timerAtMs) this.#setTimer(atMs)
  }

  /** Calls `due` once, after that many milliseconds. */
  after(waitMs: number, due: () => void): CancelDeadline {
    const deadline = { atMs: this.#now() + waitMs, due }
    const line = this.#deadlines.get(waitMs) ?? new Set()
    this.#deadlines.set(waitMs, line.add(deadline))
    if (deadline.atMs < this.#timerAtMs) this.#setTimer(deadline.atMs)
    return () => {
      line.delete(deadline)
    }
  }

  /** Cancels all deadlines. */
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
      // Replaced timers may throw. A flush, or the next timer that can be set, then does what is due.
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
    this.#meetDeadlines(this.#now() + SLICE_MS)
    const nextMs = this.#nextMs()
    if (nextMs < this.#timerAtMs) this.#setTimer(nextMs)
  }

  /** Does what is due, as far as there is time. What is left comes first in the next turn. */
  #meetDeadlines(endMs: number): void {
    for (const [waitMs, line] of this.#deadlines) {
      for (const deadline of line) {
        const nowMs = this.#now()
        if (deadline.atMs > nowMs) break
        if (nowMs >= endMs) return
        line.delete(deadline)
        this.#guard(deadline.due)
      }
      if (line.size === 0) this.#deadlines.delete(waitMs)
    }
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

import type { Failed, Skipped } from '../model/score.ts'
import type { ScoringContext } from '../scoring/scorer.ts'
import type { JudgeWorld } from './world.ts'

/** The time limit of one score: its own timeout, or an abort from outside, whichever comes first. */
export class Deadline {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly #outside: AbortSignal
  readonly #world: Pick<JudgeWorld, 'now' | 'wait'>
  readonly #endMs: number

  constructor({ signal, timeoutMs }: ScoringContext, world: Pick<JudgeWorld, 'now' | 'wait'>) {
    this.#outside = signal
    this.#world = world
    this.timeoutMs = timeoutMs
    // Timers accept at most 2^31 - 1 milliseconds.
    const own = AbortSignal.timeout(Math.max(0, Math.min(timeoutMs, 2 ** 31 - 1)))
    this.signal = AbortSignal.any([signal, own])
    this.#endMs = world.now() + timeoutMs
  }

  get isOver(): boolean {
    return this.signal.aborted
  }

  /** The score passed with an abort from outside; `undefined` after a timeout. */
  get givenScore(): Skipped | Failed | undefined {
    const reason: unknown = this.#outside.reason
    return isScore(reason) ? reason : undefined
  }

  /** Whether a wait of this many milliseconds would end too late. */
  isTooLong(waitMs: number): boolean {
    return this.#world.now() + waitMs >= this.#endMs
  }

  wait(waitMs: number): Promise<void> {
    return this.#world.wait(waitMs, this.signal)
  }

  /** Races a call against the deadline. It does not wait for a provider that ignores the signal. */
  race<T>(call: Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown } | { readonly isOver: true }> {
    const { signal } = this
    return new Promise((resolve) => {
      const onAbort = (): void => resolve({ isOver: true })
      if (signal.aborted) onAbort()
      signal.addEventListener('abort', onAbort, { once: true })
      call
        .then(
          (value) => resolve({ value }),
          (error: unknown) => resolve(signal.aborted ? { isOver: true } : { error }),
        )
        .finally(() => signal.removeEventListener('abort', onAbort))
    })
  }
}

function isScore(reason: unknown): reason is Skipped | Failed {
  return (
    typeof reason === 'object' &&
    reason !== null &&
    'status' in reason &&
    (reason.status === 'skipped' || reason.status === 'failed')
  )
}

import type { Failed, Skipped } from '../model/score.ts'
import type { ScoringContext } from '../scoring/scorer.ts'
import type { JudgeWorld } from './world.ts'

/** The time that one score may take: its own limit, or an abort from outside, whichever comes first. */
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
    // A timer takes no more than 2^31 - 1 milliseconds.
    const own = AbortSignal.timeout(Math.max(0, Math.min(timeoutMs, 2 ** 31 - 1)))
    this.signal = AbortSignal.any([signal, own])
    this.#endMs = world.now() + timeoutMs
  }

  get isOver(): boolean {
    return this.signal.aborted
  }

  /** The score with which the scoring was aborted from outside; `undefined` where the time was over. */
  get givenScore(): Skipped | Failed | undefined {
    const reason: unknown = this.#outside.reason
    return isScore(reason) ? reason : undefined
  }

  /** Whether a wait of so many milliseconds would end too late. */
  isTooLong(waitMs: number): boolean {
    return this.#world.now() + waitMs >= this.#endMs
  }

  wait(waitMs: number): Promise<void> {
    return this.#world.wait(waitMs, this.signal)
  }

  /** What a call comes to. A provider that does not heed the signal is not waited for. */
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

import { isolated } from './isolation.ts'
import { adopted, isThenable, notAPromise } from './thenable.ts'

/** What came of code that is not ours. */
export type ForeignResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown }

/**
 * Runs code of the application or of a library on its behalf: scorers, `when`, `sample`, `redact`, `onScore`, `onJudgeCall`, the
 * providers of meters and loggers. It is the one way in which such code is run. What it throws is a value here; the spans that
 * it starts are neither recorded nor scored; and it does not see the async context of the request that happened to end a run.
 *
 * Two kinds of foreign code are called without it, because spans pass through them anyway: the processors behind spanscore,
 * and the tracer provider. Their calls are guarded where they are made.
 */
export function runForeign<T>(run: () => T): ForeignResult<T> {
  try {
    return { ok: true, value: isolated(run) }
  } catch (error) {
    return { ok: false, error }
  }
}

/** As `runForeign`, for code that must return its result synchronously: a promise is an error, because its rejection would not be handled. */
export function runForeignNow<T>(run: () => T): ForeignResult<T> {
  return runForeign(() => notAPromise(run()))
}

/** As `runForeign`, for code whose result may be a promise of any implementation: a rejection comes to `onRejected`, and goes no further. */
export function callForeign(run: () => unknown, onError: (error: unknown) => void): void {
  const result = runForeign(run)
  if (!result.ok) onError(result.error)
  else if (isThenable(result.value)) void adopted(result.value).then(undefined, onError)
}

import { isolated } from './isolation.ts'
import { adopted, disown, isThenable } from './thenable.ts'

/** The result of code that is not ours. */
export type ForeignResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown }

/**
 * Runs code of the application or of a library: scorers, `when`, `sample`, `redact`, `onScore`, `onJudgeCall`, the providers of
 * meters and loggers. All such code is run by this function. An error that it throws is returned as a value, the spans that it
 * starts are neither recorded nor scored, and it does not see the async context of the request that ended the run.
 *
 * There are two exceptions, the processors behind spanscore and the tracer provider, because spans pass through them anyway. The
 * callers of these catch their errors.
 */
export function runForeign<T>(run: () => T): ForeignResult<T> {
  try {
    return { ok: true, value: isolated(run) }
  } catch (error) {
    return { ok: false, error }
  }
}

/** Like `runForeign`, for code that must return its result synchronously. A promise is an error. */
export function runForeignNow<T>(run: () => T): ForeignResult<T> {
  const result = runForeign(run)
  if (!result.ok || !isThenable(result.value)) return result
  disown(result.value)
  return { ok: false, error: new TypeError('expected a value, got a promise') }
}

/** Like `runForeign`, for callbacks, which may be async. `onError` gets an error or a rejection, which would end the application's process. */
export function callForeign(run: () => unknown, onError: (error: unknown) => void): void {
  const result = runForeign(run)
  if (!result.ok) onError(result.error)
  else if (isThenable(result.value)) void adopted(result.value).then(undefined, onError)
}

import { isolated } from './isolation.ts'

/** Whether a value is a promise of any implementation. A value whose `then` cannot be read is not a promise. Never throws. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  try {
    return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
  } catch {
    return false
  }
}

/**
 * Converts a promise of any implementation to a native one. If its `then` throws, or calls its callbacks more than once, the native
 * promise still settles exactly once. That `then` is foreign code, so it runs isolated.
 */
export function adopted<T>(promise: PromiseLike<T>): Promise<T> {
  return isolated(
    () =>
      new Promise((resolve) => {
        resolve(promise)
      }),
  )
}

/** Ignores a promise that was not expected. An unhandled rejection would end the application's process. */
export function disown(promise: PromiseLike<unknown>): void {
  void adopted(promise).catch(() => undefined)
}

/**
 * Returns the result of foreign code that must be synchronous. A promise is ignored, so that its rejection does not end the process.
 *
 * @throws TypeError if it is a promise
 */
export function notAPromise<T>(value: T): T {
  if (!isThenable(value)) return value
  disown(value)
  throw new TypeError('expected a value, got a promise')
}

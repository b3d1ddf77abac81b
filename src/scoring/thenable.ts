import { isolated } from './isolation.ts'

/** Whether a value is a promise of any implementation. A value whose `then` cannot be read is none. Never throws. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  try {
    return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
  } catch {
    return false
  }
}

/**
 * A native promise for one of any implementation. A `then` that throws, or that calls its callbacks more than once, becomes one
 * rejection or one result, by the rules of the language. Its `then` is foreign code, and runs isolated as such.
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
 * The result of foreign code that has to return it synchronously. A promise is ignored, so that its rejection ends no process.
 *
 * @throws TypeError where it is a promise
 */
export function notAPromise<T>(value: T): T {
  if (!isThenable(value)) return value
  disown(value)
  throw new TypeError('expected a value, got a promise')
}

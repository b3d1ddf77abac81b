import { isolated } from './isolation.ts'

/**
 * Whether a value is a promise of any implementation, which may also be a function: JavaScript follows it like any other. A value whose
 * `then` cannot be read is not a promise. Never throws.
 */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  try {
    const mayHaveThen = (typeof value === 'object' && value !== null) || typeof value === 'function'
    return mayHaveThen && 'then' in value && typeof value.then === 'function'
  } catch {
    return false
  }
}

/** A promise that resolves to a promise, and so on, for more often than this may never end. */
const MOST_PROMISES = 20

/**
 * Converts a promise of any implementation to a native one. If its `then` throws, or calls its callbacks more than once, the native
 * promise still settles exactly once. It rejects if the promise resolves to itself: JavaScript would follow it forever, in one turn of the
 * event loop. That `then` is foreign code, so it runs isolated.
 */
export function adopted<T>(promise: PromiseLike<T>): Promise<T> {
  return isolated(() => followed(promise, MOST_PROMISES))
}

async function followed<T>(promise: PromiseLike<T>, left: number): Promise<T> {
  // Code that has just returned a promise does not expect its `then` to be called yet.
  await Promise.resolve()
  if (promise instanceof Promise) {
    // What a native promise resolves to is not a promise.
    if (promise.then === Promise.prototype.then) return promise
    // If it rejects, this is handled, even if its own `then` does not ask for it.
    void Promise.prototype.then.call(promise, undefined, () => undefined)
  }
  if (left === 0) throw new TypeError('expected a promise of a value, got one of itself')
  const { value } = await new Promise<{ readonly value: T | PromiseLike<T> }>((resolve, reject) => {
    promise.then((result) => resolve({ value: result }), reject)
  })
  return isThenable(value) ? followed(value, left - 1) : value
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

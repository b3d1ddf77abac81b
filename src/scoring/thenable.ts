/** Whether a value is a promise, of whatever make. A value whose `then` cannot even be looked at is none. Never throws. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  try {
    return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
  } catch {
    return false
  }
}

/**
 * A promise of our own for one of any make: a `then` that throws, or calls both of its callbacks, or calls them twice, is a
 * rejection or a single result, as the language has it.
 */
export function adopted<T>(promise: PromiseLike<T>): Promise<T> {
  return new Promise((resolve) => {
    resolve(promise)
  })
}

/** Leaves a promise to itself that nobody asked for: a rejection that nobody handles would end the application's process. */
export function disown(promise: PromiseLike<unknown>): void {
  void adopted(promise).catch(() => undefined)
}

/**
 * What foreign code gave that has to give its result now. A promise is left to itself, so that its rejection ends nothing.
 *
 * @throws TypeError where it is a promise
 */
export function notAPromise<T>(value: T): T {
  if (!isThenable(value)) return value
  disown(value)
  throw new TypeError('expected a value, got a promise')
}

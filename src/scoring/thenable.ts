/** Whether a value is a promise, of whatever make. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

/** Leaves a promise to itself that nobody asked for: a rejection that nobody handles would end the application's process. */
export function disown(promise: PromiseLike<unknown>): void {
  void promise.then(undefined, () => undefined)
}

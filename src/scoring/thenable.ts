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

/** Converts a promise of any implementation to a native one. Its `then` is foreign code, so it runs isolated. */
export function adopted<T>(promise: PromiseLike<T>): Promise<T> {
  return isolated(() => Promise.resolve(promise))
}

/** Ignores a promise that was not expected. An unhandled rejection would end the application's process. */
export function disown(promise: PromiseLike<unknown>): void {
  void adopted(promise).catch(() => undefined)
}

/** Deeper values are left as they are: content that is nested so deeply was not copied from the application's spans either. */
const MAX_DEPTH = 97

/**
 * Freezes lists and plain objects, as deep as they go, and returns the value. All scorers of a run, and its callbacks, share what
 * it holds: one that sorts a list or writes to a message gets a `TypeError`, and changes nothing for the others. What is frozen
 * already is not looked into again, so that a fact pays for it once.
 */
export function frozen<T>(value: T): T {
  freeze(value, 0)
  return value
}

function freeze(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || Object.isFrozen(value)) return
  if (Array.isArray(value)) {
    Object.freeze(value)
    for (const item of value) freeze(item, depth + 1)
    return
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner, depth + 1)
}

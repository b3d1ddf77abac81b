/** Deeper values are not frozen; content this deep was not copied from the application's spans either. */
const MAX_DEPTH = 97

/**
 * Freezes arrays and plain objects deeply, and returns the value. All scorers and callbacks of a run share it, so one that sorts an array
 * or changes a message gets a `TypeError` and affects no other. Frozen values are not visited again, so each fact is frozen once.
 */
export function frozen<T>(value: T): T {
  freeze(value, 0)
  return value
}

/** How many objects are frozen per step. */
const OBJECTS_OF_A_STEP = 500

/** Like `frozen`, in steps, so that megabytes do not block the event loop. */
export function* frozenInSteps<T>(value: T): Generator<undefined, T> {
  const waiting: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }]
  let count = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { depth } = next
    for (const inner of freezeOne(next.value, depth)) {
      if (typeof inner === 'object' && inner !== null) waiting.push({ value: inner, depth: depth + 1 })
    }
    count += 1
    if (count % OBJECTS_OF_A_STEP === 0) yield
  }
  return value
}

function freeze(value: unknown, depth: number): void {
  const inner = freezeOne(value, depth)
  // What is frozen already gives an empty list, and an iterator for it would cost more than the rest.
  for (let index = 0; index < inner.length; index++) freeze(inner[index], depth + 1)
}

const NOTHING: readonly unknown[] = []

/** Freezes an array or plain object itself, and returns its items; returns nothing if it is already frozen. */
function freezeOne(value: unknown, depth: number): readonly unknown[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || Object.isFrozen(value)) return NOTHING
  if (Array.isArray(value)) return Object.freeze(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return NOTHING
  return Object.values(Object.freeze(value))
}

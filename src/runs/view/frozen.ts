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

/** Objects that are frozen without a pause. */
const OBJECTS_OF_A_STEP = 500

/** As `frozen`, in steps, so that megabytes need not hold the event loop. */
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
  for (const inner of freezeOne(value, depth)) freeze(inner, depth + 1)
}

const NOTHING: readonly unknown[] = []

/** Freezes a list or plain object itself, and gives what is in it; nothing of what is frozen already. */
function freezeOne(value: unknown, depth: number): readonly unknown[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || Object.isFrozen(value)) return NOTHING
  if (Array.isArray(value)) return Object.freeze(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return NOTHING
  return Object.values(Object.freeze(value))
}

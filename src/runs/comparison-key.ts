import { canonicalJsonWithin } from '../spans/json.ts'

/** Characters by which two values are compared. */
const MAX_CHARACTERS = 20_000

/** The keys of values that were read ahead, because making them of very large ones takes long. */
const readAhead = new WeakMap<object, string>()

/** Text that is equal for equal values, whatever wrote them; values that differ only far behind their beginning may have the same. */
export function comparisonKey(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? readAhead.get(value) : undefined
  return known ?? canonicalJsonWithin(MAX_CHARACTERS, value)
}

/** Makes the key of a value of a large run now, so that `comparisonKey` has it when the run is put together. */
export function readComparisonKey(value: unknown): void {
  if (typeof value !== 'object' || value === null || readAhead.has(value)) return
  readAhead.set(value, canonicalJsonWithin(MAX_CHARACTERS, value))
}

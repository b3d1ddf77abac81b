import { BoundedMap } from '../bounded-map.ts'

/** How many texts are kept, and their most characters, so that one reader keeps a megabyte at most. */
const MAX_TEXTS = 16
const MAX_CHARACTERS = 65_536

/**
 * Reads a text once that runs repeat, such as instructions and offered tools: what was read of the latest texts is kept.
 *
 * @param read What it returns is shared by all runs, so nobody may modify it.
 */
export function onceForText<Value>(read: (written: unknown) => Value): (written: unknown) => Value {
  const known = new BoundedMap<string, Value>(MAX_TEXTS)
  return (written) => {
    if (typeof written !== 'string' || written.length > MAX_CHARACTERS) return read(written)
    const kept = known.get(written)
    if (kept !== undefined) return kept
    const value = read(written)
    known.set(written, value)
    return value
  }
}

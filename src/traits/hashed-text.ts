import { BoundedMap } from '../spans/bounded-map.ts'
import { nodeCrypto } from '../spans/node-crypto.ts'

/** Prompts and lists of tools repeat from run to run, and their length is not bounded. */
const known = new BoundedMap<string, string>(32)

/** A short name for a text that may be long or secret: 8 hexadecimal digits of its SHA-256. */
export function hashedText(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  const hashed = known.get(text)
  if (hashed !== undefined) return hashed
  const made = nodeCrypto().createHash('sha256').update(text).digest('hex').slice(0, 8)
  known.set(text, made)
  return made
}

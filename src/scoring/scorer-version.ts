import { nodeCrypto } from '../spans/node-crypto.ts'
import { canonicalJson } from '../spans/json.ts'

/**
 * The version of a scorer: SHA-256 over the canonical JSON of all that gives its score a meaning (id, options, prompt texts,
 * model, declared version). Equal meaning gives an equal version, in whatever order the options were written.
 *
 * Functions count with their source text. That text says nothing of what they close over and differs between a minified
 * build and its source: whoever compares versions across builds declares `version` and raises it by hand.
 *
 * @returns 8 hex digits: enough to tell the versions of one scorer apart.
 */
export function scorerVersion(identity: unknown): string {
  return nodeCrypto()
    .createHash('sha256')
    .update(canonicalJson(toHashable(identity, [])))
    .digest('hex')
    .slice(0, 8)
}

/** The value with what JSON cannot say said in words: functions, patterns, numbers that are not finite. */
function toHashable(value: unknown, above: readonly object[]): unknown {
  if (typeof value === 'function') return { function: String(value) }
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof RegExp) return { regexp: String(value) }
  if (value instanceof Date) return { date: value.toISOString() }
  if (above.includes(value)) return 'circular'
  const here = [...above, value]
  if (Array.isArray(value)) return value.map((item) => toHashable(item, here))
  if (value instanceof Set) return { set: [...value].map((item) => toHashable(item, here)) }
  if (value instanceof Map) return { map: [...value].map((entry) => toHashable(entry, here)) }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toHashable(item, here)]))
}

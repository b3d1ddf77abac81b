import { refuseNode } from '../model/node-version.ts'
import { canonicalJson } from '../spans/json.ts'
import { nodeCrypto } from '../spans/node-crypto.ts'
import type { Scorer } from './scorer.ts'

/** The version of a scorer with these tools that hand the user over to a person, whose order does not matter. */
export function versionFor(
  { version, readsHandOver = false }: Pick<Scorer, 'version' | 'readsHandOver'>,
  handOver: readonly string[] = [],
): string {
  return !readsHandOver || handOver.length === 0
    ? version
    : scorerVersion({ version, handOver: [...new Set(handOver)].toSorted() })
}

/**
 * The version of a scorer: SHA-256 over the canonical JSON of everything that affects its meaning (id, options, prompt texts, model,
 * declared version). The order of options does not matter.
 *
 * Functions are hashed by their source text. The text does not show the values of variables that a function uses, and it differs
 * between a minified build and its source. To compare versions across builds, declare `version` and raise it by hand.
 *
 * @returns 8 hex digits: enough to distinguish the versions of one scorer. Empty in a Node.js where nothing is scored.
 */
export function scorerVersion(identity: unknown): string {
  if (refuseNode() !== undefined) return ''
  return nodeCrypto()
    .createHash('sha256')
    .update(canonicalJson(toHashable(identity, [])))
    .digest('hex')
    .slice(0, 8)
}

/** Replaces what JSON cannot express (functions, patterns, numbers that are not finite) by descriptions. */
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

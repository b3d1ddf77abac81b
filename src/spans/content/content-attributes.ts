import { BoundedMap } from '../bounded-map.ts'
import type { Dialect } from '../dialect.ts'
import { allDialects } from '../dialects/all.ts'

/**
 * True for attribute keys under which an instrumentation writes what was said: messages, arguments, results, tool
 * schemas. The dialects say which; code that needs spans or runs without content asks here.
 *
 * @param dialect The span's, where it has one: some keys are content on its spans alone.
 */
export function isContentAttribute(key: string, dialect?: Dialect): boolean {
  if (dialect?.ownContentKeys?.includes(key) === true) return true
  const known = KNOWN.get(key)
  if (known !== undefined) return known
  const { exact, prefixes } = contentKeys()
  const isContent = exact.has(key) || prefixes.some((prefix) => key.startsWith(prefix))
  KNOWN.set(key, isContent)
  return isContent
}

/** Bounded, because keys with indices have no end. */
const KNOWN = new BoundedMap<string, boolean>(2000)

let keys: { exact: ReadonlySet<string>; prefixes: readonly string[] } | undefined

function contentKeys(): { exact: ReadonlySet<string>; prefixes: readonly string[] } {
  if (keys === undefined) {
    const all = allDialects.flatMap((dialect) => dialect.contentKeys ?? [])
    keys = {
      exact: new Set(all.filter((key) => !key.endsWith('*'))),
      prefixes: all.filter((key) => key.endsWith('*')).map((key) => key.slice(0, -1)),
    }
  }
  return keys
}

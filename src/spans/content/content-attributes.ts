import { BeginningsByLetter } from '../beginnings-by-letter.ts'
import { BoundedMap } from '../bounded-map.ts'
import type { Dialect } from '../dialect.ts'
import { allDialects } from '../dialects/all.ts'

/**
 * Whether an instrumentation writes content under an attribute key: messages, arguments, results or tool schemas. The dialects define these
 * keys. Code that removes content uses this function.
 *
 * @param dialect the span's dialect, if any: some keys are content only on its spans
 */
export function isContentAttribute(key: string, dialect?: Dialect): boolean {
  if (dialect?.ownContentKeys?.includes(key) === true) return true
  const known = KNOWN.get(key)
  if (known !== undefined) return known
  const { exact, prefixes } = contentKeys()
  const isContent = exact.has(key) || prefixes.has(key)
  KNOWN.set(key, isContent)
  return isContent
}

/** Bounded, because there are endlessly many keys with indices. */
const KNOWN = new BoundedMap<string, boolean>(2000)

let keys: { exact: ReadonlySet<string>; prefixes: BeginningsByLetter } | undefined

function contentKeys(): { exact: ReadonlySet<string>; prefixes: BeginningsByLetter } {
  if (keys === undefined) {
    const all = allDialects.flatMap((dialect) => dialect.contentKeys ?? [])
    keys = {
      exact: new Set(all.filter((key) => !key.endsWith('*'))),
      prefixes: new BeginningsByLetter([all.filter((key) => key.endsWith('*')).map((key) => key.slice(0, -1))]),
    }
  }
  return keys
}

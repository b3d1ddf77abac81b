import { BeginningsByLetter } from './beginnings-by-letter.ts'
import { isContentAttribute } from './content/content-attributes.ts'

/** Attributes of spans around a run that no dialect recognises: of an application's request, such as a customer's plan. */
export type Surrounding = Readonly<Record<string, string | number | boolean>>

/** How many attributes are kept, and how many characters a value may have. */
const MAX_ATTRIBUTES = 32
const MAX_CHARACTERS = 200

/** What instrumentations of servers, clients and databases write about the transport: the beginnings of names. */
export const transportKeys: BeginningsByLetter = new BeginningsByLetter([
  ['url.', 'http.', 'client.', 'network.', 'net.', 'server.', 'user_agent.', 'db.'],
])

/** The attributes of such a span that describe the run; `undefined` if it has none. */
export function surroundingOf(attributes: Readonly<Record<string, unknown>>): Surrounding | undefined {
  let kept: Record<string, string | number | boolean> | undefined
  let left = MAX_ATTRIBUTES
  for (const key in attributes) {
    const value = attributes[key]
    if (!isKept(value) || key === '__proto__' || transportKeys.has(key) || isContentAttribute(key)) continue
    kept ??= {}
    kept[key] = value
    left -= 1
    if (left === 0) break
  }
  return kept
}

/** The attributes of all spans around a run, the nearest first, whose values count; `undefined` if there are none. */
export function mergedSurroundings(nearestFirst: Iterable<Surrounding>): Surrounding | undefined {
  let merged: Record<string, string | number | boolean> | undefined
  let left = MAX_ATTRIBUTES
  for (const each of nearestFirst) {
    for (const key in each) {
      const value = each[key]
      if (value === undefined || left === 0 || (merged !== undefined && Object.hasOwn(merged, key))) continue
      merged ??= {}
      merged[key] = value
      left -= 1
    }
  }
  return merged
}

function isKept(value: unknown): value is string | number | boolean {
  if (typeof value === 'string') return value.length <= MAX_CHARACTERS
  return typeof value === 'number' || typeof value === 'boolean'
}

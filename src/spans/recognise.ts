import { BeginningsByLetter } from './beginnings-by-letter.ts'
import { BoundedMap } from './bounded-map.ts'
import type { Dialect, SpanRole } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import type { SourceSpan } from './source-span.ts'

/** More scopes than an application has. */
const MAX_SCOPES = 1000

/** How many dialects are simply asked. To ask more takes longer than to find out by the keys which to ask. */
const FEW = 3

/** What the scope alone says. */
interface ScopeSigns {
  /** The positions of the dialects that recognise a span of the scope without attributes. */
  readonly positions: readonly number[]
  /** All dialects that may come first for spans of this scope, if they are few. */
  readonly few: readonly Dialect[]
}

const knownScopes = new BoundedMap<string, ScopeSigns>(MAX_SCOPES)

/** The beginnings of the attribute keys by which dialects recognise spans. */
export const dialectNamespaces: BeginningsByLetter = new BeginningsByLetter(
  allDialects.map((each) => each.namespaces ?? []),
)

/** The beginnings of the span names by which dialects recognise spans without attributes. */
export const dialectSpanNames: BeginningsByLetter = new BeginningsByLetter(allDialects.map((each) => each.names ?? []))

/** Which dialects to ask about the current span, by position. It is reused, because an array for each span would be garbage. */
const toAsk = new Uint8Array(allDialects.length)

/**
 * Returns the dialect that wrote a span, by scope and attributes; `undefined` if none recognises it. It runs for every span of the process,
 * at its start with the attributes so far and again at its end. Looking up a key that an object lacks takes V8 some 80 ns if the
 * objects have many shapes, so only those dialects are asked whose namespaces, names or scopes fit.
 */
export function recognise(
  scopeName: string,
  attributes: Readonly<Record<string, unknown>>,
  spanName: string,
): Dialect | undefined {
  const { positions, few } = knownScopes.get(scopeName) ?? signsOf(scopeName)
  for (const dialect of few) if (dialect.recognises(scopeName, attributes, spanName)) return dialect
  let isAsked = positions.length > 0
  for (const position of positions) toAsk[position] = 1
  // Attributes are plain objects, and `for in` needs no array of keys.
  // oxlint-disable-next-line eslint/guard-for-in
  for (const key in attributes) if (dialectNamespaces.markOwners(key, toAsk)) isAsked = true
  if (dialectSpanNames.markOwners(spanName, toAsk)) isAsked = true
  return isAsked ? firstOfAsked(scopeName, attributes, spanName) : undefined
}

function firstOfAsked(...signs: Parameters<Dialect['recognises']>): Dialect | undefined {
  let found: Dialect | undefined
  // A callback for each dialect would be called for each span of a process.
  for (let position = toAsk.indexOf(1); position !== -1; position = toAsk.indexOf(1, position + 1)) {
    const dialect = allDialects[position]
    if (dialect?.recognises(...signs) !== true) continue
    found = dialect
    break
  }
  toAsk.fill(0)
  return found
}

function signsOf(scopeName: string): ScopeSigns {
  const byScope = allDialects.map((dialect) => dialect.recognises(scopeName, {}, ''))
  const first = byScope.indexOf(true)
  const upToFirst = allDialects.slice(0, first + 1).filter((each, position) => byScope[position] || readsMore(each))
  const signs = {
    positions: byScope.flatMap((isFound, position) => (isFound ? [position] : [])),
    few: upToFirst.length <= FEW ? upToFirst : [],
  }
  knownScopes.set(scopeName, signs)
  return signs
}

/** Whether it recognises spans by more than their scope. */
function readsMore({ namespaces: keys = [], names: beginnings = [] }: Dialect): boolean {
  return keys.length > 0 || beginnings.length > 0
}

/** The role of a span; `none` if the dialect does not know. Never throws. */
export function roleOf(dialect: Dialect, span: SourceSpan): SpanRole {
  try {
    const role = dialect.roleOf(span)
    if (role === 'model' || role === 'tool' || dialect.aside === undefined) return role
    return dialect.aside(span) === undefined ? role : 'aside'
  } catch {
    return 'none'
  }
}

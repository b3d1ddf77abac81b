import { BoundedMap } from './bounded-map.ts'
import type { Dialect } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import { recognise } from './recognise.ts'
import type { SourceSpan } from './source-span.ts'

/**
 * What can be said of a span before any dialect is asked. Most spans of an application are of libraries that have nothing
 * to do with agents, and a dozen questions a span are more than they may cost.
 */
export type ScopeKind =
  /** A library whose spans are never part of a run. */
  | 'ordinary'
  /** A library that a dialect knows by its scope. */
  | 'library'
  /** A tracer of the application's own, or of a library that nobody knows: the attributes say. */
  | 'unknown'

/** Instrumentations of OpenTelemetry's own, save those that trace models, and of frameworks that do not. */
const ORDINARY =
  /^(?:@opentelemetry\/instrumentation-(?!.*(?:openai|anthropic|bedrock|aws|google|vertex|cohere|mistral|ollama|gen|llm|lang|agent|mcp))|@prisma\/instrumentation|prisma$|next\.js$|@vercel\/otel\/fetch)/

/** As many scopes as an application may reasonably have. */
const MAX_SCOPES = 1000

const kinds = new BoundedMap<string, ScopeKind>(MAX_SCOPES)

/** What is known of all spans of an instrumentation scope. */
export function scopeKindOf(scopeName: string): ScopeKind {
  return kinds.get(scopeName) ?? classify(scopeName)
}

function classify(scopeName: string): ScopeKind {
  const kind = ORDINARY.test(scopeName)
    ? 'ordinary'
    : recognise(scopeName, {}, '') === undefined
      ? 'unknown'
      : 'library'
  kinds.set(scopeName, kind)
  return kind
}

/**
 * The namespaces of all dialects by the code of their first letter: most keys of ordinary spans (`http.…`, `url.…`, `db.…`) are
 * passed over after one look-up. Keys that begin with a character beyond ASCII are in no dialect's namespace.
 */
const namespacesByLetter: readonly (readonly string[] | undefined)[] = byFirstLetter(
  allDialects.flatMap((dialect) => dialect.namespaces ?? []),
)

/** The names by which dialects recognise spans that have no attributes yet, in the same form. */
const namesByLetter: readonly (readonly string[] | undefined)[] = byFirstLetter(
  allDialects.flatMap((dialect) => dialect.names ?? []),
)

/** The attributes that say what a span is, in one dialect or another. */
const kindKeys: readonly string[] = [...new Set(allDialects.flatMap((dialect) => dialect.kindKeys ?? []))]

/**
 * Whether a dialect could recognise a span of an `unknown` scope: false is certain, true means that the dialects have to be
 * asked.
 */
export function mayBeRecognised(attributes: Readonly<Record<string, unknown>>, spanName: string): boolean {
  // Own keys and inherited ones alike: attributes are plain objects, and `for…in` costs no array.
  // oxlint-disable-next-line eslint/guard-for-in
  for (const key in attributes) if (beginsWithOneOf(key, namespacesByLetter)) return true
  return beginsWithOneOf(spanName, namesByLetter)
}

/** Whether a recognised span says by now what it is, and will stay that; many say it only when they end. */
export function saysItsKind(dialect: Dialect, span: SourceSpan): boolean {
  const { attributes } = span
  return kindKeys.some((key) => attributes[key] !== undefined) && dialect.mayBecomeAgent?.(span) !== true
}

function byFirstLetter(beginnings: readonly string[]): (readonly string[] | undefined)[] {
  const table = Array.from<readonly string[] | undefined>({ length: 128 })
  for (const beginning of new Set(beginnings)) {
    const code = beginning.charCodeAt(0)
    table[code] = [...(table[code] ?? []), beginning]
  }
  return table
}

function beginsWithOneOf(text: string, table: readonly (readonly string[] | undefined)[]): boolean {
  const beginnings = table[text.charCodeAt(0)]
  if (beginnings === undefined) return false
  for (const beginning of beginnings) if (text.startsWith(beginning)) return true
  return false
}

/**
 * The same for bytes that are not decoded: whether an attribute's key, which starts at `start` and ends before `end`, is in the
 * namespace of a dialect.
 */
export function isKeyOfDialect(bytes: Uint8Array, start: number, end: number): boolean {
  return bytesBeginWithOneOf(bytes, start, end, namespacesByLetter)
}

/** The same for a span's name. */
export function isNameOfDialect(bytes: Uint8Array, start: number, end: number): boolean {
  return bytesBeginWithOneOf(bytes, start, end, namesByLetter)
}

function bytesBeginWithOneOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  table: readonly (readonly string[] | undefined)[],
): boolean {
  if (start >= end) return false
  const beginnings = table[bytes[start] ?? 0]
  if (beginnings === undefined) return false
  for (const beginning of beginnings) if (bytesBeginWith(bytes, start, end, beginning)) return true
  return false
}

/** Namespaces are ASCII: one byte is one character. */
function bytesBeginWith(bytes: Uint8Array, start: number, end: number, beginning: string): boolean {
  if (end - start < beginning.length) return false
  for (let index = 0; index < beginning.length; index++) {
    if (bytes[start + index] !== beginning.charCodeAt(index)) return false
  }
  return true
}

import { BoundedMap } from './bounded-map.ts'
import type { Dialect } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import { recognise } from './recognise.ts'
import type { SourceSpan } from './source-span.ts'

/**
 * What the scope says about a span, before any dialect is asked. Most spans of an application have nothing to do with agents, and asking
 * all dialects about each of them would cost too much.
 */
export type ScopeKind =
  /** A library whose spans are never part of a run. */
  | 'ordinary'
  /** A library that a dialect recognises by its scope. */
  | 'library'
  /** A tracer of the application, or of an unknown library: the attributes decide. */
  | 'unknown'

/** OpenTelemetry's own instrumentations, except those of models, and of frameworks without agents. */
const ORDINARY =
  /^(?:@opentelemetry\/instrumentation-(?!.*(?:openai|anthropic|bedrock|aws|google|vertex|cohere|mistral|ollama|gen|llm|lang|agent|mcp))|@prisma\/instrumentation|prisma$|next\.js$|@vercel\/otel\/fetch)/

/** More scopes than an application has. */
const MAX_SCOPES = 1000

const kinds = new BoundedMap<string, ScopeKind>(MAX_SCOPES)

/** The kind of an instrumentation scope. */
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
 * The namespaces of all dialects by the code of their first letter: one look-up excludes most keys of ordinary spans (`http.…`, `url.…`,
 * `db.…`). Keys that start with a non-ASCII character are in no namespace.
 */
const namespacesByLetter: readonly (readonly string[] | undefined)[] = byFirstLetter(
  allDialects.flatMap((dialect) => dialect.namespaces ?? []),
)

/** The names by which dialects recognise spans without attributes, in the same form. */
const namesByLetter: readonly (readonly string[] | undefined)[] = byFirstLetter(
  allDialects.flatMap((dialect) => dialect.names ?? []),
)

/** The attributes that determine a span's role in any dialect. */
const kindKeys: readonly string[] = [...new Set(allDialects.flatMap((dialect) => dialect.kindKeys ?? []))]

/**
 * Whether a dialect may recognise a span of an `unknown` scope. False is certain; if true, the dialects must be asked.
 */
export function mayBeRecognised(attributes: Readonly<Record<string, unknown>>, spanName: string): boolean {
  // Attributes are plain objects, and `for in` needs no array of keys.
  // oxlint-disable-next-line eslint/guard-for-in
  for (const key in attributes) if (beginsWithOneOf(key, namespacesByLetter)) return true
  return beginsWithOneOf(spanName, namesByLetter)
}

/** Whether the role of a recognised span is already final. Many spans only reveal it when they end. */
export function saysItsKind(dialect: Dialect, span: SourceSpan): boolean {
  const { attributes } = span
  // Its own dialect's keys are looked at first, because one of them nearly always decides.
  const isSaid =
    (dialect.kindKeys !== undefined && hasOneOf(attributes, dialect.kindKeys)) || hasOneOf(attributes, kindKeys)
  return isSaid && dialect.mayBecomeAgent?.(span) !== true
}

function hasOneOf(attributes: SourceSpan['attributes'], keys: readonly string[]): boolean {
  for (const key of keys) if (attributes[key] !== undefined) return true
  return false
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
 * The same for undecoded bytes: whether an attribute's key, from `start` to before `end`, is in a dialect's namespace.
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

/** Namespaces are ASCII, so one byte is one character. */
function bytesBeginWith(bytes: Uint8Array, start: number, end: number, beginning: string): boolean {
  if (end - start < beginning.length) return false
  for (let index = 0; index < beginning.length; index++) {
    if (bytes[start + index] !== beginning.charCodeAt(index)) return false
  }
  return true
}

import { BoundedMap } from './bounded-map.ts'
import type { Dialect } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import { dialectNamespaces, dialectSpanNames, recognise } from './recognise.ts'
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

/** The attributes that determine a span's role in any dialect. */
const kindKeys: readonly string[] = [...new Set(allDialects.flatMap((dialect) => dialect.kindKeys ?? []))]

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

/** Whether the undecoded key of an attribute, from `start` to before `end`, is in a dialect's namespace. */
export function isKeyOfDialect(bytes: Uint8Array, start: number, end: number): boolean {
  return dialectNamespaces.begin(bytes, start, end)
}

/** The same for a span's name. */
export function isNameOfDialect(bytes: Uint8Array, start: number, end: number): boolean {
  return dialectSpanNames.begin(bytes, start, end)
}

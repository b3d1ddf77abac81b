import { BeginningsByLetter } from './beginnings-by-letter.ts'
import type { Dialect, SpanRole } from './dialect.ts'
import { allDialects } from './dialects/all.ts'
import { genAi } from './dialects/gen-ai.ts'
import type { SdkSpanLike } from './from-sdk-span.ts'
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

/** How many dialects are simply asked. To ask more takes longer than to find out by the keys which to ask. */
const FEW = 3

/** What the scope alone says. */
interface ScopeSigns {
  readonly kind: ScopeKind
  /** The positions of the dialects that recognise a span of the scope without attributes. */
  readonly positions: readonly number[]
  /** All dialects that may come first for spans of this scope, if they are few. */
  readonly few: readonly Dialect[]
}

const knownScopes = new Map<string, ScopeSigns>()

/** The beginnings of the attribute keys by which dialects recognise spans. */
export const dialectNamespaces: BeginningsByLetter = new BeginningsByLetter(
  allDialects.map((each) => each.namespaces ?? []),
)

/** The beginnings of the span names by which dialects recognise spans without attributes. */
export const dialectSpanNames: BeginningsByLetter = new BeginningsByLetter(
  // Dialects that are made from `gen-ai` have its names, too, and recognise nothing by them.
  allDialects.map((each) => (each.names === genAi.names && each !== genAi ? [] : (each.names ?? []))),
)

/** Which dialects to ask about the current span, by position. It is reused, because an array for each span would be garbage. */
const toAsk = new Uint8Array(allDialects.length)

/** What the scope of a span says about it. */
export function scopeKindOf(scopeName: string): ScopeKind {
  return (knownScopes.get(scopeName) ?? signsOf(scopeName)).kind
}

/** The dialect of an SDK's span; `ordinary` if no dialect can ever recognise it. */
export function dialectOfSdkSpan(span: SdkSpanLike): Dialect | 'ordinary' | undefined {
  const scopeName = (span.instrumentationScope ?? span.instrumentationLibrary)?.name ?? ''
  const signs = knownScopes.get(scopeName) ?? signsOf(scopeName)
  return signs.kind === 'ordinary' ? 'ordinary' : dialectBy(signs, scopeName, span.attributes, span.name)
}

/** The dialect that wrote a span, by scope and attributes; `undefined` if none recognises it. */
export function recognise(
  scopeName: string,
  attributes: Readonly<Record<string, unknown>>,
  spanName: string,
): Dialect | undefined {
  return dialectBy(knownScopes.get(scopeName) ?? signsOf(scopeName), scopeName, attributes, spanName)
}

/**
 * It runs for every span of the process, at its start with the attributes so far and again at its end. Looking up a key that an object lacks
 * takes V8 some 80 ns if the objects have many shapes, so only those dialects are asked whose namespaces, names or scopes fit.
 */
function dialectBy(
  { positions, few }: ScopeSigns,
  scopeName: string,
  attributes: Readonly<Record<string, unknown>>,
  spanName: string,
): Dialect | undefined {
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
  const signs: ScopeSigns = {
    kind: ORDINARY.test(scopeName) ? 'ordinary' : first === -1 ? 'unknown' : 'library',
    positions: byScope.flatMap((isFound, position) => (isFound ? [position] : [])),
    few: upToFirst.length <= FEW ? upToFirst : [],
  }
  if (knownScopes.size >= MAX_SCOPES) knownScopes.clear()
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

import { recognise } from './recognise.ts'

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

/** As many scopes as an application may reasonably have; further ones are asked about each time. */
const MAX_SCOPES = 1000

const kinds = new Map<string, ScopeKind>()

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
  if (kinds.size < MAX_SCOPES) kinds.set(scopeName, kind)
  return kind
}

/** The beginnings, up to the first dot or colon, of all attributes by which dialects recognise spans. */
const NAMESPACES: ReadonlySet<string> = new Set([
  'ai',
  'gen_ai',
  'genkit',
  'langfuse',
  'langsmith',
  'llm',
  'mastra',
  'mcp',
  'openinference',
  'traceloop',
])

/** Names by which spans are recognised that have no attributes yet. */
const NAMES = /^(?:ai\.|invoke_agent|execute_tool)/

/** Their first letters: a l g m o t. Everything else (`http`, `url`, `server`, `db`, …) is told by one comparison. */
function mayBegin(code: number): boolean {
  return code === 97 || code === 103 || code === 108 || code === 109 || code === 111 || code === 116
}

function namespaceOf(key: string): string {
  const dot = key.indexOf('.')
  const colon = key.indexOf(':')
  return key.slice(0, colon === -1 || (dot !== -1 && dot < colon) ? dot : colon)
}

/** Whether a dialect could recognise a span of an `unknown` scope: false is certain, true is to be asked. */
export function mayBeRecognised(attributes: Readonly<Record<string, unknown>>, spanName: string): boolean {
  // Own keys and inherited ones alike: attributes are plain objects, and `in` order costs no array.
  // oxlint-disable-next-line eslint/guard-for-in
  for (const key in attributes) {
    if (mayBegin(key.charCodeAt(0)) && NAMESPACES.has(namespaceOf(key))) return true
  }
  return NAMES.test(spanName)
}

/** Attributes that say what a span is, in one dialect or another. */
const KINDS = [
  'gen_ai.operation.name',
  'ai.operationId',
  'openinference.span.kind',
  'traceloop.span.kind',
  'langfuse.observation.type',
  'langsmith.span.kind',
  'mastra.span.type',
  'mcp.method.name',
  // Laminar's spans have their type from the start, where they have one.
  'lmnr.span.path',
] as const

/** Whether a recognised span says by now what it is; many say it only when they end. */
export function saysItsKind(attributes: Readonly<Record<string, unknown>>): boolean {
  return KINDS.some((key) => attributes[key] !== undefined)
}

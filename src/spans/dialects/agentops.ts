import { asideKind } from '../asides.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { textMessage } from '../content/messages.ts'
import type { Dialect, SpanRole } from '../dialect.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import type { SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'

const KIND = 'agentops.span.kind'

/**
 * AgentOps for Python: decorated functions and classes (`agentops.span.kind`, `agentops.<kind>.input`), and frameworks whose own trace it
 * copies. Model calls have the conventions' indexed attributes.
 */
export const agentOps: Dialect = {
  ...genAi,
  name: 'agentops',

  namespaces: ['agentops.', 'instrumentation.name'],
  kindKeys: [KIND],
  recognises: (scopeName, attributes) =>
    scopeName === 'agentops' ||
    scopeName === 'openai-agents' ||
    attributes[KIND] !== undefined ||
    attributes['instrumentation.name'] === 'agentops',

  roleOf(span): SpanRole {
    const kind = textOf(span.attributes[KIND])
    // The calls that OpenAI's models ask for have spans of the kind `AgentOpsSpanKindValues.TOOL`, in which nothing runs.
    if (kind !== undefined) return ROLES.get(kind) ?? 'step'
    // The trace of the OpenAI Agents SDK.
    return isTrace(span) ? 'entry' : 'step'
  },
  aside: (span) => asideKind(span.attributes[KIND]),
  mayBecomeAgent: (span) => span.attributes[KIND] === undefined,
  // The agents in it hand over to one another.
  isSingleRun: isTrace,

  agent(span) {
    const role = agentOps.roleOf(span)
    const decorated = role === 'agent' || role === 'entry' ? textOf(span.attributes['operation.name']) : undefined
    const name = textOf(span.attributes['agent.name']) ?? decorated
    return name === undefined ? undefined : { name }
  },

  systemInstructions: (span, logs) =>
    genAi.systemInstructions?.(span, logs) ?? textOf(span.attributes['gen_ai.openai.instructions']),
  input(span, logs) {
    const [text, ...others] = Object.values(argumentsOf(span) ?? {})
    return typeof text === 'string' && others.length === 0 ? [textMessage('user', text)] : genAi.input?.(span, logs)
  },
  output(span, logs) {
    const value = decoratedValue(span, 'output')
    const text = typeof value === 'string' ? value : toJsonText(value)
    return text === undefined ? genAi.output?.(span, logs) : [textMessage('assistant', text)]
  },
  toolDefinitions(span, logs) {
    const names = jsonAttribute(span, 'agent.tools')
    const named = Array.isArray(names) ? names.flatMap((name) => (typeof name === 'string' ? { name } : [])) : []
    return named.length > 0 ? named : genAi.toolDefinitions?.(span, logs)
  },

  tool(span) {
    const name = textOf(span.attributes['tool.name']) ?? textOf(span.attributes['operation.name'])
    return name === undefined ? undefined : { name }
  },
  toolArguments: (span) => argumentsOf(span) ?? parseJson(span.attributes['tool.parameters']),
  toolResult: (span) => decoratedValue(span, 'output') ?? parseJson(span.attributes['tool.result']),

  absence(span, fact) {
    // Copied traces do not have them; other requests are complete.
    const isWhole = span.attributes['instrumentation.name'] === undefined && genAi.input?.(span, []) !== undefined
    return fact === 'systemInstructions' && isWhole ? undefined : { why: 'not-recorded' }
  },

  contentKeys: [...(genAi.contentKeys ?? []), 'gen_ai.openai.instructions'].concat(
    ['entity', 'session', 'workflow', 'task', 'operation', 'agent', 'chain', 'tool', 'llm', 'guardrail'].flatMap(
      (kind) => [`agentops.${kind}.input`, `agentops.${kind}.output`],
    ),
  ),
  ownContentKeys: [...(genAi.ownContentKeys ?? []), 'agent.tools', 'tool.parameters', 'tool.result'],
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['agent', 'agent'],
  ['session', 'entry'],
  ['workflow', 'entry'],
  ['task', 'entry'],
  ['operation', 'entry'],
  ['llm', 'model'],
  ['tool', 'tool'],
])

function isTrace(span: SourceSpan): boolean {
  return span.attributes['workflow.step.type'] === 'trace'
}

/** What a decorated function was given, by the names of its parameters; those without a name by their position. */
function argumentsOf(span: SourceSpan): Record<string, unknown> | undefined {
  const given = decoratedValue(span, 'input')
  if (!isRecord(given)) return undefined
  const args = Object.entries(Array.isArray(given.args) ? given.args : [])
  return { ...Object.fromEntries(args), ...(isRecord(given.kwargs) && given.kwargs) }
}

/** A class is written with the kind `entity`. */
function decoratedValue(span: SourceSpan, side: 'input' | 'output'): unknown {
  const kind = textOf(span.attributes[KIND]) ?? ''
  const own = ROLES.has(kind) ? jsonAttribute(span, `agentops.${kind}.${side}`) : undefined
  return own ?? jsonAttribute(span, `agentops.entity.${side}`)
}

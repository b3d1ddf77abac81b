import type { Message, Part } from '../../model/message.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { makeMessage, textMessage } from '../content/messages.ts'
import type { Absence, Dialect, SpanRole } from '../dialect.ts'
import { isRecord, textOf } from '../json.ts'
import { operationOf } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'

/**
 * Gemini CLI's own traces. There is no span for a run: model calls and batches of tools are traces of their own, which the messages of the
 * model calls connect. Only a sub-agent has a span, below its tool's span, and with the name of the CLI in place of its own.
 */
export const geminiCli: Dialect = {
  ...genAi,
  name: 'gemini-cli',

  namespaces: [],
  recognises: (scopeName) => scopeName === 'gemini-cli',
  roleOf: (span): SpanRole => ROLES.get(operationOf(span.attributes) ?? span.name) ?? 'step',

  // All model calls for one prompt have its id.
  quirks: { requestId: (span) => textOf(span.attributes['gen_ai.prompt.name']) },

  agent: (span) => (isSubAgent(span) ? undefined : genAi.agent?.(span)),

  systemInstructions: (span) => textOf(jsonAttribute(span, 'gen_ai.system_instructions')),
  input(span, logs) {
    if (!isSubAgent(span)) return genAi.input?.(span, logs)?.map(plain)
    const given = jsonAttribute(span, MESSAGES)
    const [question, ...others] = isRecord(given) ? Object.values(given) : []
    return others.length === 0 && typeof question === 'string' ? [textMessage('user', question)] : undefined
  },
  output: (span, logs) => (isSubAgent(span) ? undefined : genAi.output?.(span, logs)?.map(plain)),

  tool(span) {
    const name = textOf(span.attributes['gen_ai.tool.name'])
    const id = textOf(span.attributes['gen_ai.tool.call_id'])
    if (name === undefined) return undefined
    return { name, ...(id !== undefined && { id: ownId(id, name) }) }
  },
  toolArguments(span) {
    const request = jsonAttribute(span, MESSAGES)
    return isRecord(request) ? request.args : undefined
  },
  toolResult: () => undefined,

  absence(span): Absence {
    const written = span.attributes[MESSAGES]
    if (written === undefined) return OFF
    const isCut = textOf(written)?.includes(CUT, MAX_LENGTH - CUT.length) === true
    return { why: isCut ? 'truncated' : 'not-recorded' }
  },
}

const MESSAGES = 'gen_ai.input.messages'

/** The length at which the CLI cuts a text, and what it writes after it. */
const MAX_LENGTH = 10_000
const CUT = '...[TRUNCATED: original length '

const OFF: Absence = {
  why: 'not-captured',
  switch: 'GEMINI_TELEMETRY_TRACES_ENABLED=true and GEMINI_TELEMETRY_LOG_PROMPTS=true',
}

const ROLES: ReadonlyMap<string, SpanRole> = new Map<string, SpanRole>([
  ['llm_call', 'model'],
  ['tool_call', 'tool'],
  ['agent_call', 'agent'],
])

function isSubAgent(span: SourceSpan): boolean {
  return (operationOf(span.attributes) ?? span.name) === 'agent_call'
}

/** In answers and tools' spans, ids begin with the tool's name and `__`; in the messages that follow they do not. */
function ownId(id: string, name: string): string {
  return id.startsWith(`${name}__`) ? id.slice(name.length + 2) : id
}

/**
 * Without what the CLI adds: the context of the session in front of the first question, and the object around a result, which is
 * `{ output }`, or `{ error }` for a tool that failed.
 */
function plain(message: Message): Message {
  const own = message.parts.filter((part) => !(part.type === 'text' && part.content.startsWith('<session_context>')))
  const parts = own.map((part): Part => {
    if (part.type === 'tool_call' && part.id !== undefined) return { ...part, id: ownId(part.id, part.name) }
    if (part.type !== 'tool_call_response' || !isRecord(part.response)) return part
    const { output, error } = part.response
    if (error !== undefined) return { ...part, response: error, isError: true }
    return output === undefined ? part : { ...part, response: output }
  })
  return makeMessage(message.role, parts.length === 0 ? message.parts : parts, message.name)
}

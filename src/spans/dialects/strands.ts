import type { Dialect, SpanOutcome, SpanRole } from '../dialect.ts'
import type { Message } from '../../model/message.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import { textMessage, toInstructions, toolCallsIn } from '../content/messages.ts'
import { outcomeOf, WAITING } from '../outcome.ts'
import { unwrapBlocks } from '../content/parts.ts'
import type { SourceSpan } from '../source-span.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'
import { fromFlattened } from '../content/indexed-messages.ts'
import { operationOf } from '../semconv.ts'
import { genAi } from './gen-ai.ts'

/**
 * Strands Agents (TypeScript and Python): the conventions' attributes, with content in span events. By default these are the old ones
 * (`gen_ai.user.message`, `gen_ai.choice`, …, with Bedrock blocks as JSON); with the latest conventions enabled they are
 * `gen_ai.client.inference.operation.details`, or attributes in some versions. There is no setting for content.
 */
export const strands: Dialect = {
  ...genAi,
  name: 'strands',
  toolSpans: 'always',

  namespaces: ['gen_ai.system', 'gen_ai.provider.name'],
  recognises: (scopeName, attributes) =>
    scopeName === 'strands-agents' ||
    scopeName.startsWith('strands.telemetry') ||
    attributes['gen_ai.system'] === 'strands-agents' ||
    attributes['gen_ai.provider.name'] === 'strands-agents',

  roleOf(span): SpanRole {
    // Repeats the history in events; it is not a model call.
    if (/^execute_(agent|event)_loop_cycle\b/.test(span.name)) return 'step'
    // Checks the arguments through which the model gave a structured answer.
    const description = span.attributes['gen_ai.tool.description']
    if (typeof description === 'string' && description.includes('StructuredOutputTool should only be')) return 'step'
    return operationOf(span.attributes) === undefined ? roleByName(span) : genAi.roleOf(span)
  },

  agent(span) {
    const name = textOf(span.attributes['agent.name'])
    return genAi.agent?.(span) ?? (name === undefined ? undefined : { name })
  },

  tool(span) {
    const name = textOf(span.attributes['tool.name'])
    const id = textOf(span.attributes['tool.id'])
    return genAi.tool?.(span) ?? (name === undefined ? undefined : { name, ...(id !== undefined && { id }) })
  },

  input(span, logs) {
    const given = textOf(parseJson(span.attributes['gen_ai.agent.input']))
    return genAi.input?.(span, logs) ?? (given === undefined ? undefined : [textMessage('user', given)])
  },

  output(span, logs) {
    if (isInterrupted(span)) return undefined
    const output = genAi.output?.(span, logs)
    const answer = toolCallsIn(output).findLast((call) => call.name === STRUCTURED_OUTPUT)?.arguments
    // In a swarm, the same tool hands over, and then has the agent's name.
    if (!isRecord(answer) || answer.agentId !== undefined) return output
    const isMessage = typeof answer.message === 'string' && Object.keys(answer).length === 1
    const text = isMessage ? textOf(answer.message) : toJsonText(answer)
    return text === undefined ? output : [...(output ?? []), textMessage('assistant', text)]
  },

  // The messages of an agent's span are those that its caller gave it. Answers to its interrupts are none.
  resumption: (span, logs) =>
    strands.roleOf(span) === 'agent' && genAi.output?.(span, logs) !== undefined && isEmpty(strands.input?.(span, logs))
      ? {}
      : undefined,

  systemInstructions: (span, logs) =>
    toInstructions(span.attributes.system_prompt) ?? genAi.systemInstructions?.(span, logs),

  toolDefinitions: (span, logs) =>
    genAi.toolDefinitions?.(span, logs) ?? toToolDefinitions(span.attributes['gen_ai.agent.tools']),

  toolArguments: (span, logs) =>
    genAi.toolArguments?.(span, logs) ??
    parseJson(eventValue(span, 'gen_ai.tool.message', 'content')) ??
    early(span, 'tool.parameters'),

  toolResult(span, logs) {
    const said = genAi.toolResult?.(span, logs) ?? parseJson(eventValue(span, 'gen_ai.choice', 'message'))
    const written = said ?? early(span, 'tool.result')
    const value = unwrapBlocks(written)
    // Objects and lists are in `json` blocks, so text that looks like JSON is just text.
    const [only] = Array.isArray(written) && written.length === 1 ? (written as readonly unknown[]) : []
    const isText = isRecord(only) && typeof only.text === 'string' && typeof value === 'object' && value !== null
    return isText ? only.text : value
  },

  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    if (isInterrupted(span)) return WAITING
    // If a tool caught its own error, Python ends its span successfully and writes the tool's status on it.
    const status = span.attributes['gen_ai.tool.status'] ?? span.attributes['tool.status']
    if (outcome.status === 'ok' && status === undefined && isWithoutResult(span)) return { status: 'unknown' }
    if (outcome.error !== undefined || status !== 'error') return outcome
    const message = textOf(toJsonText(strands.toolResult?.(span, [])))
    return { status: 'error', error: message === undefined ? {} : { message } }
  },

  // Everything is always recorded, so missing instructions and tools did not exist.
  absence: (_span, fact) =>
    fact === 'systemInstructions' || fact === 'toolDefinitions' ? undefined : { why: 'not-recorded' },

  contentKeys: [...(genAi.contentKeys ?? []), 'system_prompt', 'gen_ai.agent.input', 'gen_ai.agent.tools'].concat([
    'gen_ai.decision.*',
    'tool.parameters',
    'tool.parameters.*',
    'tool.result',
    'tool.result.*',
  ]),
}

/** From before operation names: `Model invoke`, `Tool: search`, `Cycle <id>`, and the agent's own name. */
function roleByName(span: SourceSpan): SpanRole {
  if (span.name === 'Model invoke') return 'model'
  if (span.name.startsWith('Tool: ')) return 'tool'
  if (span.name.startsWith('Cycle ')) return 'step'
  const isAgent = span.attributes['agent.name'] !== undefined || span.attributes['gen_ai.agent.tools'] !== undefined
  return isAgent ? 'agent' : genAi.roleOf(span)
}

/** A value as the first versions wrote it, whole or with an attribute for each member. */
function early(span: SourceSpan, key: string): unknown {
  return parseJson(span.attributes[key]) ?? fromFlattened(span.attributes, `${key}.`)
}

/** An agent that was interrupted writes the interrupts instead of an answer. */
function isInterrupted(span: SourceSpan): boolean {
  if (eventValue(span, 'gen_ai.choice', 'finish_reason') === 'interrupt') return true
  return [span, ...span.events].some(({ attributes }) => {
    const written = attributes['gen_ai.output.messages']
    // Quotation marks in a text of the messages are escaped.
    return typeof written === 'string' && /"finish_reason": ?"interrupt"/.test(written)
  })
}

function isEmpty(messages: readonly Message[] | undefined): boolean {
  return messages === undefined || messages.every(({ role }) => role === 'system')
}

/** A tool that was interrupted ends successfully, without a status of its own and a result. */
function isWithoutResult(span: SourceSpan): boolean {
  return strands.roleOf(span) === 'tool' && strands.toolResult?.(span, []) === undefined
}

/** The tool through which the model gives a structured answer. */
const STRUCTURED_OUTPUT = 'strands_structured_output'

function eventValue(span: SourceSpan, eventName: string, key: string): unknown {
  return span.events.find((event) => event.name === eventName)?.attributes[key]
}

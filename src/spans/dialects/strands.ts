import type { Dialect, Outcome, SpanRole } from '../dialect.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../json.ts'
import { textMessage, toInstructions, toolCallsIn } from '../content/messages.ts'
import { outcomeOf } from '../outcome.ts'
import { unwrapBlocks } from '../content/parts.ts'
import type { SourceSpan } from '../source-span.ts'
import { toToolDefinitions } from '../content/tool-definitions.ts'
import { genAi } from './gen-ai.ts'

/**
 * Strands Agents (TypeScript and Python): the conventions' attributes, and content in span events, by default those of old
 * (`gen_ai.user.message`, `gen_ai.choice`, …, with Bedrock blocks as JSON), with the newest conventions opted in
 * `gen_ai.client.inference.operation.details`, in some versions as attributes. There is no switch for content.
 */
export const strands: Dialect = {
  ...genAi,
  name: 'strands',
  toolSpans: 'always',

  namespaces: ['gen_ai.'],
  recognises: (scopeName, attributes) =>
    scopeName === 'strands-agents' ||
    scopeName.startsWith('strands.telemetry') ||
    attributes['gen_ai.system'] === 'strands-agents' ||
    attributes['gen_ai.provider.name'] === 'strands-agents',

  roleOf(span): SpanRole {
    // Repeats the history in events, and is no call.
    if (/^execute_(agent|event)_loop_cycle\b/.test(span.name)) return 'step'
    return genAi.roleOf(span)
  },

  input(span, logs) {
    const given = textOf(parseJson(span.attributes['gen_ai.agent.input']))
    return genAi.input?.(span, logs) ?? (given === undefined ? undefined : [textMessage('user', given)])
  },

  output(span, logs) {
    const output = genAi.output?.(span, logs)
    const answer = toolCallsIn(output).findLast((call) => call.name === STRUCTURED_OUTPUT)?.arguments
    // In a swarm the same tool hands over, and then names the agent.
    if (!isRecord(answer) || answer.agentId !== undefined) return output
    const isMessage = typeof answer.message === 'string' && Object.keys(answer).length === 1
    const text = isMessage ? textOf(answer.message) : toJsonText(answer)
    return text === undefined ? output : [...(output ?? []), textMessage('assistant', text)]
  },

  systemInstructions: (span, logs) =>
    toInstructions(span.attributes.system_prompt) ?? genAi.systemInstructions?.(span, logs),

  toolDefinitions: (span, logs) =>
    genAi.toolDefinitions?.(span, logs) ?? toToolDefinitions(span.attributes['gen_ai.agent.tools']),

  toolArguments: (span, logs) =>
    genAi.toolArguments?.(span, logs) ?? parseJson(eventValue(span, 'gen_ai.tool.message', 'content')),

  toolResult(span, logs) {
    const written = genAi.toolResult?.(span, logs) ?? parseJson(eventValue(span, 'gen_ai.choice', 'message'))
    const value = unwrapBlocks(written)
    // Objects and lists stand in `json` blocks: text that reads as one is a text.
    const [only] = Array.isArray(written) && written.length === 1 ? (written as readonly unknown[]) : []
    const isText = isRecord(only) && typeof only.text === 'string' && typeof value === 'object' && value !== null
    return isText ? only.text : value
  },

  outcome(span): Outcome {
    const outcome = outcomeOf(span)
    // Python ends the span of a tool that caught its own error well, and says on it how the tool ended.
    const status = span.attributes['gen_ai.tool.status'] ?? span.attributes['tool.status']
    if (outcome.error !== undefined || status !== 'error') return outcome
    const message = textOf(toJsonText(strands.toolResult?.(span, [])))
    return { status: 'error', error: message === undefined ? {} : { message } }
  },

  // Everything is always recorded: instructions and tools that are not there were not given.
  absence: (_span, fact) =>
    fact === 'systemInstructions' || fact === 'toolDefinitions' ? undefined : { why: 'not-recorded' },

  contentKeys: [...(genAi.contentKeys ?? []), 'system_prompt', 'gen_ai.agent.input'],
}

/** The tool through which the model gives a structured answer. */
const STRUCTURED_OUTPUT = 'strands_structured_output'

function eventValue(span: SourceSpan, eventName: string, key: string): unknown {
  return span.events.find((event) => event.name === eventName)?.attributes[key]
}

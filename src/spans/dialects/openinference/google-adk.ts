import type { Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import { refusalIn, unwrapResult, withoutIdentity } from '../../content/adk.ts'
import { toMessage } from '../../content/messages.ts'
import type { Message, Part } from '../../../model/message.ts'
import { isRecord, textOf } from '../../json.ts'
import { WAITING } from '../../outcome.ts'
import type { SourceSpan } from '../../source-span.ts'
import { shownJson } from './content.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * Google's Agent Development Kit for Python through OpenInference. Spans are named after their operation, with a name in brackets
 * (`agent_run [weather]`). A tool's result is the whole `FunctionResponse`.
 */
export const openInferenceGoogleAdk: Dialect = {
  ...openInference,

  namespaces: ['openinference.span.kind'],
  // Model spans are the library's own. OpenInference adds its attributes to them.
  recognises: (scopeName, attributes) =>
    scopeName === 'openinference.instrumentation.google_adk' ||
    (scopeName === 'gcp.vertex.agent' && attributes['openinference.span.kind'] !== undefined),
  withoutScope: { readAs: openInference, isShownBy: (span) => span.name.startsWith('invocation [') },

  roleOf: (span): SpanRole => (span.name.includes('(merged') ? 'none' : openInference.roleOf(span)),

  // The runner's span has question and answer. The agents in it hand over to one another.
  isSingleRun: (span) => kindOf(span) === 'CHAIN',

  agent(span) {
    const kind = kindOf(span)
    if (kind !== 'AGENT' && kind !== 'CHAIN') return undefined
    const name = textOf(span.attributes['agent.name']) ?? inBrackets(span.name) ?? textOf(span.name)
    return name === undefined ? undefined : { name }
  },

  systemInstructions(span) {
    const text = openInference.systemInstructions?.(span, [])
    return text === undefined ? undefined : textOf(withoutIdentity(text))
  },

  // The question of a run that goes on is among the messages of its first model call.
  input(span) {
    const message = newMessageOf(span)
    if (message === undefined) return openInference.input?.(span, [])
    return answersIn(message).length > 0 ? undefined : [message]
  },

  resumption(span) {
    const answers = answersIn(newMessageOf(span))
    return answers.length > 0 ? {} : undefined
  },

  outcome(span): SpanOutcome {
    const refusal = refusalOf(span)
    return refusal === 'not confirmed' ? WAITING : (openInference.outcome?.(span) ?? { status: 'unknown' })
  },

  // The last event of a failed run has the error.
  output(span, logs) {
    const value = shownJson(span, 'output.value')
    const isError = isRecord(value) && value.content === undefined && value.error_code !== undefined
    return isError ? undefined : openInference.output?.(span, logs)
  },

  tool(span) {
    const tool = openInference.tool?.(span)
    if (tool === undefined) return undefined
    const id = tool.id ?? textOf(responseOf(span)?.id)
    const isRejected = refusalOf(span) === 'rejected'
    return { ...tool, ...(id !== undefined && { id }), ...(isRejected && { executed: false, rejected: true }) }
  },
  toolResult(span) {
    const response = responseOf(span)
    if (refusalOf(span) !== undefined) return undefined
    return unwrapResult(response === undefined ? openInference.toolResult?.(span, []) : response.response)
  },
}

/** `agent_run [weather]`, `invocation [app]` */
function inBrackets(name: string): string | undefined {
  const start = name.indexOf(' [')
  return start === -1 || !name.endsWith(']') ? undefined : textOf(name.slice(start + 2, -1))
}

/** The `FunctionResponse` that a tool's span holds: `{ id, name, response }`. */
function responseOf(span: SourceSpan): Readonly<Record<string, unknown>> | undefined {
  const value = kindOf(span) === 'TOOL' ? shownJson(span, 'output.value') : undefined
  return isRecord(value) && typeof value.name === 'string' && 'response' in value ? value : undefined
}

function refusalOf(span: SourceSpan): ReturnType<typeof refusalIn> {
  return refusalIn(responseOf(span)?.response)
}

/** A root's value is the runner's call, with what the user sent as its new message: a question, or answers to what the agent waited for. */
function newMessageOf(span: SourceSpan): Message | undefined {
  const value = kindOf(span) === 'LLM' ? undefined : shownJson(span, 'input.value')
  const sent = isRecord(value) ? value.new_message : undefined
  return sent === undefined ? undefined : toMessage(sent)
}

function answersIn(message: Message | undefined): readonly Part[] {
  return message?.parts.filter(({ type }) => type === 'tool_call_response') ?? []
}

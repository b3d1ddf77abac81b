import type { Dialect, SpanRole } from '../../dialect.ts'
import { unwrapResult, withoutIdentity } from '../../content/adk.ts'
import { toMessage } from '../../content/messages.ts'
import { isRecord, textOf } from '../../json.ts'
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
  holdsOneRun: (span) => kindOf(span) === 'CHAIN',

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

  // A root's value is the runner's call, with the question as its new message.
  input(span) {
    const value = kindOf(span) === 'LLM' ? undefined : shownJson(span, 'input.value')
    const asked = isRecord(value) ? value.new_message : undefined
    const message = asked === undefined ? undefined : toMessage(asked)
    return message === undefined ? openInference.input?.(span, []) : [message]
  },

  // The last event of a failed run has the error.
  output(span, logs) {
    const value = shownJson(span, 'output.value')
    const isError = isRecord(value) && value.content === undefined && value.error_code !== undefined
    return isError ? undefined : openInference.output?.(span, logs)
  },

  tool(span) {
    const tool = openInference.tool?.(span)
    const id = textOf(responseOf(span)?.id)
    return tool === undefined || tool.id !== undefined || id === undefined ? tool : { ...tool, id }
  },
  toolResult(span) {
    const response = responseOf(span)
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

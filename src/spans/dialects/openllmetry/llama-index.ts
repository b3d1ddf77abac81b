import type { Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import { jsonAttribute } from '../../content/json-attribute.ts'
import { queryIn } from '../../content/documents.ts'
import { llamaIndexMessage } from '../../content/llama-index.ts'
import { textMessage } from '../../content/messages.ts'
import { asWritten } from '../../content/python-literal.ts'
import { unwrapBlocks } from '../../content/parts.ts'
import { isRecord, parseJson, textOf, toJsonText } from '../../json.ts'
import { outcomeOf } from '../../outcome.ts'
import type { SourceSpan } from '../../source-span.ts'
import { openLlmetry } from './openllmetry.ts'

/**
 * LlamaIndex for Python through OpenLLMetry: a workflow, and its steps side by side below, all under one name. A step that calls a
 * tool has the tool's name; models' spans come from what instruments the client. Which agent answered is in the workflow's output.
 */
export const openLlmetryLlamaIndex: Dialect = {
  ...openLlmetry,

  kindKeys: ['tool.name'],
  namespaces: [],
  recognises: (scopeName) => scopeName === 'opentelemetry.instrumentation.llamaindex',

  roleOf(span): SpanRole {
    if (span.attributes['tool.name'] !== undefined) return 'tool'
    // It answers also if it finds nothing that it could show to a model.
    if (ENGINE.test(span.name)) return 'agent'
    // The class of a tool, below the step that calls it.
    return TOOL_CLASS.test(span.name) ? 'step' : openLlmetry.roleOf(span)
  },

  agent(span) {
    const result = resultOf(span)
    const name = isRecord(result) ? textOf(result.current_agent_name) : undefined
    return name === undefined ? undefined : { name }
  },

  // Only the class shows that a span is a retriever.
  aside: (span) => (RETRIEVER_CLASS.test(span.name) ? 'retrieval' : openLlmetry.aside?.(span)),
  retrieval: (span, logs) =>
    RETRIEVER_CLASS.test(span.name)
      ? { kind: 'search', query: queryIn(jsonAttribute(span, 'traceloop.entity.input')) }
      : openLlmetry.retrieval?.(span, logs),

  input: (span, logs) => (ENGINE.test(span.name) ? openLlmetry.input?.(span, logs) : undefined),
  output(span) {
    if (ENGINE.test(span.name)) {
      const output = jsonAttribute(span, OUTPUT)
      const text = isRecord(output) ? textOf(output.response) : undefined
      return text === undefined ? undefined : [textMessage('assistant', text)]
    }
    const result = resultOf(span)
    const answer = isRecord(result) ? llamaIndexMessage(result.response) : undefined
    return answer === undefined ? undefined : [answer]
  },

  tool(span) {
    const name = textOf(span.attributes['tool.name'])
    const output = jsonAttribute(span, OUTPUT)
    const id = isRecord(output) ? textOf(output.tool_id) : undefined
    return name === undefined ? undefined : { name, ...(id !== undefined && { id }) }
  },
  toolArguments: (span) => parseJson(span.attributes['tool.arguments']),
  toolResult(span) {
    const output = toolOutputOf(span)
    return output === undefined || output.is_error === true ? undefined : asWritten(output.raw_output)
  },
  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    const output = toolOutputOf(span)
    if (outcome.error !== undefined || output?.is_error !== true) return outcome
    const message = textOf(toJsonText(unwrapBlocks(output.blocks)))
    return { status: 'error', error: message === undefined ? {} : { message } }
  },

  // A model that was not asked has no instructions and tools.
  absence: (span, fact, logs) =>
    span.attributes['traceloop.entity.input'] === undefined
      ? openLlmetry.absence?.(span, fact, logs)
      : { why: 'not-recorded' },

  contentKeys: [...(openLlmetry.contentKeys ?? []), 'tool.arguments'],
}

const OUTPUT = 'traceloop.entity.output'
const RETRIEVER_CLASS = /Retriever\.task$/
/** They answer a question from documents, or one of a conversation. */
const ENGINE = /(?:Query|Chat)Engine\.workflow$/
const TOOL_CLASS = /Tool\.(?:task|tool)$/

/** What a workflow ended with. */
function resultOf(span: SourceSpan): unknown {
  const output = span.name.endsWith('.workflow') ? jsonAttribute(span, OUTPUT) : undefined
  return isRecord(output) ? output.result : undefined
}

function toolOutputOf(span: SourceSpan): Readonly<Record<string, unknown>> | undefined {
  const output = span.attributes['tool.name'] === undefined ? undefined : jsonAttribute(span, OUTPUT)
  return isRecord(output) && isRecord(output.tool_output) ? output.tool_output : undefined
}

import { textMessage } from '../../content/messages.ts'
import { parsePythonLiteral } from '../../content/python-literal.ts'
import type { Dialect, SpanRole } from '../../dialect.ts'
import { isRecord, textOf } from '../../json.ts'
import type { SourceSpan } from '../../source-span.ts'
import { kindOf, openInference } from './openinference.ts'

/**
 * BeeAI through OpenInference, in its first format: a span below the agent for each event, named by the event and its number, such as
 * `tool.search.wikipedia.success-2`. A tool's last event has arguments and result, a model's has the answer and the tokens. Later versions
 * write a span for each call.
 */
export const openInferenceBeeAiEvents: Dialect = {
  ...openInference,

  namespaces: ['traceId'],
  recognises: (scopeName, attributes) =>
    scopeName === 'openinference.instrumentation.beeai' && attributes['traceId'] !== undefined,

  roleOf(span): SpanRole {
    const event = eventOf(span)
    if (event === undefined) return openInference.roleOf(span)
    // The answer itself may be such a call.
    if (!event.isLast || event.subject === 'final_answer') return 'step'
    const role = openInference.roleOf(span)
    return role === 'agent' ? 'step' : role
  },

  // Spans are named `beeai-framework-main` and after their events. Of the agent, only its class name is known.
  agent(span) {
    const name = textOf(span.attributes['source'])
    return name === undefined ? undefined : { name }
  },

  // The status is always `ok`. A failed agent has no answer.
  outcome(span) {
    const hasFailed = isAgent(span) && span.attributes['output.value'] === undefined
    return hasFailed ? { status: 'error', error: {} } : (openInference.outcome?.(span) ?? { status: 'unknown' })
  },

  // The agent's span has it as printed by Python: `{'role': 'assistant', 'text': …}`. The model's text may have a plan around it.
  output(span, logs) {
    const written = textOf(span.attributes['output.value'])
    const printed = written?.startsWith("{'role': ") === true ? parsePythonLiteral(written) : undefined
    const text = isRecord(printed) ? textOf(printed.text) : undefined
    return text === undefined ? openInference.output?.(span, logs) : [textMessage('assistant', text)]
  },
  hasFinalForm: (span) =>
    eventOf(span) === undefined && textOf(span.attributes['output.value'])?.startsWith("{'role': ") === true,

  tool(span) {
    const event = eventOf(span)
    return event === undefined ? openInference.tool?.(span) : { name: event.subject }
  },

  // The messages of the run, the tools' arguments, and the agents' plans.
  ownContentKeys: ['history', 'metadata', 'thought'],
}

/** The span around all events of an agent. */
function isAgent(span: SourceSpan): boolean {
  return kindOf(span) === 'AGENT' && eventOf(span) === undefined
}

/** `tool.search.wikipedia.success`: the subject of the event, and whether it is the last. */
function eventOf({ attributes }: SourceSpan): { readonly subject: string; readonly isLast: boolean } | undefined {
  const path = textOf(attributes['target'])?.split('.')
  const event = path?.pop()
  const subject = path?.pop()
  if (event === undefined || subject === undefined || attributes['traceId'] === undefined) return undefined
  return { subject, isLast: event === 'success' || event === 'error' }
}

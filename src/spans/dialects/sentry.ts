import type { Dialect, SpanOutcome } from '../dialect.ts'
import { outcomeOf } from '../outcome.ts'
import type { SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'

/**
 * Sentry's integrations for OpenAI, Anthropic, Google, LangChain and LangGraph (Node SDK 10, which writes to OpenTelemetry): the GenAI
 * conventions, with the answer in `gen_ai.response.text` and `gen_ai.response.tool_calls`.
 */
export const sentry: Dialect = {
  ...genAi,
  name: 'sentry',

  namespaces: ['sentry.'],
  recognises: (_scopeName, attributes) => {
    const origin = attributes['sentry.origin']
    return typeof origin === 'string' && origin.startsWith('auto.ai.')
  },

  // The status text is one of Sentry's own error names, not the error's message.
  outcome(span): SpanOutcome {
    const outcome = outcomeOf(span)
    const { message, type } = outcome.error ?? {}
    if (message === undefined || message !== span.status.message || !/^[a-z_]+$/.test(message)) return outcome
    return { ...outcome, error: { type: type ?? message } }
  },

  absence(span, fact) {
    if (span.attributes['gen_ai.input.messages'] === undefined && fact !== 'toolDefinitions') {
      return { why: 'not-captured', switch: 'Sentry.openAIIntegration({ recordInputs: true, recordOutputs: true })' }
    }
    // OpenAI chat completions without recorded ones had none.
    if (fact === 'systemInstructions' && !mayBeResponses(span)) return undefined
    return { why: 'not-recorded' }
  },
}

/** Instructions of OpenAI's Responses API are never recorded. A failed call does not show which API it used. */
function mayBeResponses({ attributes }: SourceSpan): boolean {
  const id = attributes['gen_ai.response.id']
  const isOpenAi = attributes['sentry.origin'] === 'auto.ai.openai'
  return isOpenAi && (id === undefined || (typeof id === 'string' && id.startsWith('resp_')))
}

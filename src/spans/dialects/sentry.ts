import type { Dialect, Outcome } from '../dialect.ts'
import { outcomeOf } from '../outcome.ts'
import { genAi } from './gen-ai.ts'

/**
 * Sentry's integrations for OpenAI, Anthropic, Google, LangChain and LangGraph (the Node SDK 10, which writes to
 * OpenTelemetry): the GenAI conventions, the answer in `gen_ai.response.text` and `gen_ai.response.tool_calls`.
 */
export const sentry: Dialect = {
  ...genAi,
  name: 'sentry',

  recognises: (_scopeName, attributes) => {
    const origin = attributes['sentry.origin']
    return typeof origin === 'string' && origin.startsWith('auto.ai.')
  },

  // The status text is one of Sentry's own names of what went wrong, and not what was said.
  outcome(span): Outcome {
    const outcome = outcomeOf(span)
    const { message, type } = outcome.error ?? {}
    if (message === undefined || message !== span.status.message || !/^[a-z_]+$/.test(message)) return outcome
    return { ...outcome, error: { type: type ?? message } }
  },

  absence(span, fact) {
    if (span.attributes['gen_ai.input.messages'] === undefined && fact !== 'toolDefinitions') {
      return { why: 'not-captured', switch: 'Sentry.openAIIntegration({ recordInputs: true, recordOutputs: true })' }
    }
    // Over the Responses API instructions are never recorded.
    const isResponses = /^resp_/.test(String(span.attributes['gen_ai.response.id']))
    if (fact === 'systemInstructions') return isResponses ? { why: 'not-recorded' } : undefined
    return { why: 'not-recorded' }
  },
}

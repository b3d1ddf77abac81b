import type { Dialect } from '../dialect.ts'
import { jsonAttribute } from '../content/json-attribute.ts'
import { textOf } from '../json.ts'
import { outcomeOf } from '../outcome.ts'
import { unwrapBlocks } from '../content/parts.ts'
import { toFinishReasons } from '../semconv.ts'
import type { SourceSpan } from '../source-span.ts'
import { genAi } from './gen-ai.ts'

/**
 * Spans of the Anthropic SDK itself: the GenAI conventions, with tool results under a name of its own. A tool runner is the agent. From its
 * second call on, a request only contains new messages.
 */
export const anthropicSdk: Dialect = {
  ...genAi,
  name: 'anthropic-sdk',
  toolSpans: 'sometimes',
  quirks: { isOfClient: true },

  namespaces: [],
  recognises: (scopeName) => scopeName.startsWith('com.anthropic.sdk'),

  model(span) {
    const finishReasons = toFinishReasons(span.attributes['anthropic.message.stop_reason'])
    return { ...genAi.model?.(span), ...(finishReasons !== undefined && { finishReasons }) }
  },

  toolResult: (span) => unwrapBlocks(jsonAttribute(span, 'anthropic.tool_result.content')),

  // The error text is the tool's result; the status has none.
  outcome(span) {
    const outcome = outcomeOf(span)
    const message = outcome.error?.message ?? errorTextOf(span)
    return outcome.error === undefined || message === undefined
      ? outcome
      : { ...outcome, error: { ...outcome.error, message } }
  },

  absence(span, fact) {
    if (fact === 'toolDefinitions') return { why: 'not-recorded' }
    const isRecorded = span.attributes['gen_ai.input.messages'] !== undefined
    if (fact === 'systemInstructions' && isRecorded) return undefined
    return { why: 'not-captured', switch: "new Anthropic({ openTelemetry: { traces: { contentMode: 'content' } } })" }
  },

  contentKeys: [...(genAi.contentKeys ?? []), 'anthropic.tool_result.content'],
}

function errorTextOf(span: SourceSpan): string | undefined {
  return textOf(unwrapBlocks(jsonAttribute(span, 'anthropic.tool_result.content')))
}

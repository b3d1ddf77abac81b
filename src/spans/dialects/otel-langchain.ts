import { toolMessageFields } from '../content/langchain.ts'
import { textMessage } from '../content/messages.ts'
import { unwrapBlocks } from '../content/parts.ts'
import type { Dialect } from '../dialect.ts'
import { isRecord, toJsonText } from '../json.ts'
import { operationOf } from '../semconv.ts'
import { genAi } from './gen-ai.ts'

/**
 * OpenTelemetry's own instrumentation of LangChain for Python. An agent's span has the last message of the graph's state. If that is a call,
 * the graph was interrupted before the tool ran, or the call is a structured answer.
 */
export const otelLangChain: Dialect = {
  ...genAi,

  namespaces: [],
  recognises: (scopeName) => scopeName === 'opentelemetry.instrumentation.genai.langchain',

  // A tool that hands over returns a command, with what it told the model.
  toolResult(span, logs) {
    const result = genAi.toolResult?.(span, logs)
    const message = isRecord(result) ? toolMessageFields(result) : undefined
    return message === undefined ? result : unwrapBlocks(message.content)
  },

  output(span, logs) {
    const output = genAi.output?.(span, logs)
    if (operationOf(span.attributes) !== 'invoke_agent' || output?.length !== 1) return output
    const [call, ...others] = output[0]?.parts.filter(({ type }) => type !== 'reasoning') ?? []
    if (call?.type !== 'tool_call' || others.length > 0 || !isRecord(call.arguments)) return output
    // Only a graph with a thread can be interrupted. What a graph with one returned is not recorded.
    if (span.attributes['gen_ai.conversation.id'] !== undefined) return output
    const text = toJsonText(call.arguments)
    return text === undefined ? output : [textMessage('assistant', text)]
  },
}

import { isRecord, parseJson } from '../../json.ts'
import type { Message, Part } from '../../../model/message.ts'
import { makeMessage } from '../../content/messages.ts'
import { unwrapBlocks } from '../../content/parts.ts'
import type { SourceSpan } from '../../source-span.ts'

/** LangChain and LangGraph through OpenLLMetry, whose JavaScript callbacks write a flat list of spans. */

export function isLangChain(span: SourceSpan): boolean {
  return span.scope.name.includes('langchain')
}

/** Whether this is a span of LangChain's JavaScript callbacks, which write a flat list. */
export function isFlatSpan(span: SourceSpan): boolean {
  return span.scope.name === '@traceloop/instrumentation-langchain'
}

/** Whether this is the span of a whole LangGraph graph, such as `createAgent`. */
export function isGraph(span: SourceSpan): boolean {
  return isLangChain(span) && /\b(CompiledStateGraph|CompiledGraph|LangGraph)\b/.test(span.name)
}

/** The text that LangGraph's supervisor puts between an agent's answer and its own next call. No model wrote it. */
export function isHandoffBack(message: unknown): boolean {
  const fields = isRecord(message) && isRecord(message.kwargs) ? message.kwargs : undefined
  const content = typeof fields?.content === 'string' ? fields.content : ''
  return content.startsWith('Transferring back to ') || content.startsWith('Successfully transferred back to ')
}

/** Content blocks are written as JSON text, and tool results as text without their id. */
export function fromLangChain(message: Message): Message {
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'text') return part
    const content = /^\[\s*\{\s*"type"/.test(part.content) ? unwrapBlocks(parseJson(part.content)) : part.content
    if (message.role === 'tool') return { type: 'tool_call_response', response: parseJson(part.content) }
    return typeof content === 'string' ? { type: 'text', content } : part
  })
  return makeMessage(message.role, parts, message.name)
}

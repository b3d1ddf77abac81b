import { isRecord, parseJson } from '../../json.ts'
import type { Message, Part } from '../../../model/message.ts'
import { makeMessage } from '../../content/messages.ts'
import { unwrapBlocks } from '../../content/parts.ts'
import type { SourceSpan } from '../../source-span.ts'

/** LangChain and LangGraph through OpenLLMetry, whose callbacks in JavaScript write a flat list of spans. */

export function isLangChain(span: SourceSpan): boolean {
  return span.scope.name.includes('langchain')
}

/** LangChain's callbacks in JavaScript: a flat list of spans. */
export function isFlatSpan(span: SourceSpan): boolean {
  return span.scope.name === '@traceloop/instrumentation-langchain'
}

/** The span of a whole LangGraph graph, `createAgent`'s too. */
export function isGraph(span: SourceSpan): boolean {
  return isLangChain(span) && /\b(CompiledStateGraph|CompiledGraph|LangGraph)\b/.test(span.name)
}

/** The words that LangGraph's supervisor puts between an agent's answer and its own next call: no model said them. */
export function isHandoffBack(message: unknown): boolean {
  const fields = isRecord(message) && isRecord(message.kwargs) ? message.kwargs : undefined
  const content = typeof fields?.content === 'string' ? fields.content : ''
  return content.startsWith('Transferring back to ') || content.startsWith('Successfully transferred back to ')
}

/** Contents that are lists of blocks are written as JSON text, tool answers as text without their id. */
export function fromLangChain(message: Message): Message {
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'text') return part
    const content = /^\[\s*\{\s*"type"/.test(part.content) ? unwrapBlocks(parseJson(part.content)) : part.content
    if (message.role === 'tool') return { type: 'tool_call_response', response: parseJson(part.content) }
    return typeof content === 'string' ? { type: 'text', content } : part
  })
  return makeMessage(message.role, parts, message.name)
}

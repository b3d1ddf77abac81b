import { isRecord, parseJson, textOf } from '../json.ts'
import type { Message, Part } from '../../model/message.ts'
import { makeMessage, toMessage, toRole } from './messages.ts'
import { asWritten } from './python-literal.ts'
import { toMessageParts, toToolCallPart, toToolResponse } from './parts.ts'

/** LlamaIndex's chat messages, `{ role, blocks, additional_kwargs }`. `undefined` where the value is no list of them. */
export function llamaIndexMessages(value: unknown): readonly Message[] | undefined {
  const list = parseJson(value)
  if (!Array.isArray(list)) return undefined
  const messages = list.flatMap((item) => llamaIndexMessage(item) ?? [])
  return messages.length === 0 ? undefined : messages
}

/** One of them; those of older versions have `content` in place of blocks. */
export function llamaIndexMessage(value: unknown): Message | undefined {
  if (!isRecord(value) || typeof value.role !== 'string') return undefined
  const blocks = parseJson(value.blocks)
  if (!Array.isArray(blocks)) return toMessage(value)
  const role = toRole(value.role)
  const further = isRecord(value.additional_kwargs) ? value.additional_kwargs : {}
  if (role === 'tool') {
    const texts = blocks.map((block) => (isRecord(block) ? (textOf(block.text) ?? '') : ''))
    return makeMessage(role, [toToolResponse(textOf(further.tool_call_id), asWritten(texts.join('')))])
  }
  const parts = blocks.filter((block) => !isEmptyText(block)).flatMap(toBlockParts)
  const calls = parseJson(further.tool_calls)
  const isCalling = parts.some(({ type }) => type === 'tool_call')
  const beside = !isCalling && Array.isArray(calls) ? calls.flatMap((call) => toToolCallPart(call) ?? []) : []
  return makeMessage(role, [...parts, ...beside])
}

function toBlockParts(block: unknown): readonly Part[] {
  if (!isRecord(block)) return toMessageParts(block)
  if (block.block_type === 'text' && typeof block.text === 'string') return [{ type: 'text', content: block.text }]
  const call =
    block.block_type === 'tool_call'
      ? toToolCallPart({ id: block.tool_call_id, name: block.tool_name, arguments: block.tool_kwargs })
      : undefined
  return call === undefined ? toMessageParts(block) : [call]
}

/** A call is written beside a text without words. */
function isEmptyText(block: unknown): boolean {
  return isRecord(block) && block.block_type === 'text' && (block.text === '' || block.text === null)
}

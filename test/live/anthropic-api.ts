import type { WireBody } from '../../src/testing/openai-response.ts'
import type { ScriptedMessage, ScriptedReply } from '../../src/testing/scripted-reply.ts'
import type { Question } from './script.ts'

interface Block {
  readonly type: string
  readonly text?: string
  readonly tool_use_id?: string
  readonly input?: unknown
}

interface AnthropicMessage {
  readonly role: string
  readonly content: string | readonly Block[]
}

interface AnthropicBody {
  readonly system?: string | readonly Block[]
  readonly messages?: readonly AnthropicMessage[]
  readonly thread?: { readonly type: string; readonly previous_message_id?: string }
}

/** Conversations that the server keeps: a request that continues one holds only the new messages. */
export class AnthropicThreads {
  readonly #threads = new Map<string, AnthropicBody>()

  /** The request with the earlier messages, if it continues a thread. */
  toWhole(body: AnthropicBody): AnthropicBody {
    const before = this.#threads.get(body.thread?.previous_message_id ?? '')
    if (before === undefined) return body
    return { ...before, messages: [...(before.messages ?? []), ...(body.messages ?? [])] }
  }

  /** Keeps the conversation with the answer of this id. */
  keep(body: AnthropicBody, id: string, content: readonly Block[]): void {
    this.#threads.set(id, { ...body, messages: [...(body.messages ?? []), { role: 'assistant', content }] })
  }
}

/** Reads a request of the messages API. */
export function readAnthropicRequest(body: AnthropicBody, index: number): Question {
  const messages = (body.messages ?? []).map(({ role, content }) => ({ role, blocks: toBlocks(content) }))
  const lastUser = messages.findLastIndex(({ role, blocks }) => role === 'user' && textOf(blocks) !== '')
  const toolResults = messages
    .slice(lastUser + 1)
    .flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'tool_result'))
    .map((block): ScriptedMessage => ({ role: 'tool', text: '', toolCalls: [], toolCallId: block.tool_use_id ?? '' }))
  return {
    index,
    system: textOf(toBlocks(body.system ?? '')),
    userText: textOf(messages[lastUser]?.blocks ?? []),
    toolResults,
  }
}

function toBlocks(content: string | readonly Block[]): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('')
}

/** The blocks of a reply. */
export function toAnthropicContent(reply: ScriptedReply, index: number): Block[] {
  return [
    ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]),
    ...(reply.toolCalls ?? []).map((call, position) => ({
      type: 'tool_use',
      id: `toolu_${index}_${position}`,
      name: call.name,
      input: call.arguments,
    })),
  ]
}

/** Writes a reply as the messages API does: one document, or its stream of events. */
export function writeAnthropicReply(content: readonly Block[], isStream: boolean, id: string): WireBody {
  const stopReason = content.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn'
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { input_tokens: 20, output_tokens: 10 },
  }
  if (!isStream) return { contentType: 'application/json', pieces: [JSON.stringify(message)] }
  const events = [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...content.flatMap((block, position) => blockEvents(block, position)),
    { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ]
  return {
    contentType: 'text/event-stream',
    pieces: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  }
}

function blockEvents(
  block: { readonly type: string; readonly text?: string; readonly input?: unknown },
  index: number,
) {
  const isText = block.type === 'text'
  const deltas = isText
    ? (block.text ?? '').split(/(?<= )/).map((text) => ({ type: 'text_delta', text }))
    : [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }]
  return [
    { type: 'content_block_start', index, content_block: isText ? { ...block, text: '' } : { ...block, input: {} } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

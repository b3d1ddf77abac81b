import type { IncomingHttpHeaders } from 'node:http'

import type { ScriptedMessage, ScriptedRequest } from './scripted-reply.ts'

type Json = Readonly<Record<string, unknown>>

/** Converts the body of a Chat Completions or Responses request to the common form that scripts receive. */
export function toScriptedRequest(
  api: 'chat' | 'responses',
  body: Json,
  headers: IncomingHttpHeaders,
  index: number,
): ScriptedRequest {
  const instructions = typeof body['instructions'] === 'string' ? [systemMessage(body['instructions'])] : []
  const all = [...instructions, ...(api === 'chat' ? chatMessages(body['messages']) : responsesItems(body['input']))]
  const messages = all.filter((message) => !isSystem(message.role))
  const lastUser = messages.findLastIndex((message) => message.role === 'user')
  return {
    index,
    api,
    model: asText(body['model']),
    stream: body['stream'] === true,
    system: all
      .filter((message) => isSystem(message.role))
      .map((message) => message.text)
      .join('\n\n'),
    messages,
    userText: messages[lastUser]?.text ?? '',
    toolResults: messages.slice(lastUser + 1).filter((message) => message.role === 'tool'),
    toolNames: records(body['tools']).map((tool) => asText(tool['name'] ?? asRecord(tool['function'])['name'])),
    headers,
    body,
  }
}

function chatMessages(value: unknown): ScriptedMessage[] {
  return records(value).map((message) => ({
    role: asText(message['role']),
    text: contentText(message['content']),
    toolCalls: records(message['tool_calls']).map((call) => {
      const called = asRecord(call['function'])
      return { id: asText(call['id']), name: asText(called['name']), arguments: asText(called['arguments']) }
    }),
    ...(typeof message['tool_call_id'] === 'string' && { toolCallId: message['tool_call_id'] }),
  }))
}

function responsesItems(value: unknown): ScriptedMessage[] {
  if (typeof value === 'string') return [{ role: 'user', text: value, toolCalls: [] }]
  return records(value).flatMap((item): ScriptedMessage[] => {
    switch (item['type'] ?? 'message') {
      case 'message':
        return [{ role: asText(item['role']), text: contentText(item['content']), toolCalls: [] }]
      case 'function_call': {
        const call = { id: asText(item['call_id']), name: asText(item['name']), arguments: asText(item['arguments']) }
        return [{ role: 'assistant', text: '', toolCalls: [call] }]
      }
      case 'function_call_output':
        return [{ role: 'tool', text: contentText(item['output']), toolCalls: [], toolCallId: asText(item['call_id']) }]
      default:
        return []
    }
  })
}

function systemMessage(text: string): ScriptedMessage {
  return { role: 'system', text, toolCalls: [] }
}

function isSystem(role: string): boolean {
  return role === 'system' || role === 'developer'
}

function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return records(content)
    .map((part) => asText(part['text']))
    .join('')
}

function records(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(asRecord) : []
}

function asRecord(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

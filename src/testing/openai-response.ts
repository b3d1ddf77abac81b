import type { ScriptedReply, ScriptedRequest } from './scripted-reply.ts'

/** An HTTP body: its content type and its pieces in order. */
export interface WireBody {
  readonly contentType: string
  readonly pieces: readonly string[]
}

/** Writes a reply in the format of the requested API: one JSON document, or server-sent events. */
export function toWireBody(request: ScriptedRequest, reply: ScriptedReply): WireBody {
  if (reply.rawBody !== undefined) return json(reply.rawBody)
  if ((reply.status ?? 200) >= 400) {
    const {
      message = `Scripted failure with status ${reply.status}.`,
      type = 'scripted_error',
      code,
    } = reply.error ?? {}
    return json(JSON.stringify({ error: { message, type, param: null, code: code ?? null } }))
  }
  const answer = toAnswer(request, reply)
  if (request.api === 'chat') return request.stream ? events(chatChunks(answer)) : json(JSON.stringify(chat(answer)))
  return request.stream ? events(responsesEvents(answer)) : json(JSON.stringify(responses(answer)))
}

/** A reply with every default filled in. */
interface Answer {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly refusal: string | undefined
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
  readonly finishReason: 'stop' | 'length' | 'content_filter' | 'tool_calls'
  readonly usage: Exclude<ScriptedReply['usage'], undefined>
  /** The fields of the request that the Responses API repeats. */
  readonly repeated: Readonly<Record<string, unknown>>
}

function toAnswer(request: ScriptedRequest, reply: ScriptedReply): Answer {
  const text = reply.text ?? ''
  const toolCalls = (reply.toolCalls ?? []).map((call, position) => ({
    id: call.id ?? `call_${request.index}_${position}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
  }))
  const written = text.length + toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0)
  const read = request.system.length + request.messages.reduce((sum, message) => sum + message.text.length, 0)
  return {
    id: `scripted-${request.index}`,
    model: reply.model ?? request.model,
    text,
    refusal: reply.refusal,
    toolCalls,
    repeated: { instructions: request.body['instructions'] ?? null, tools: request.body['tools'] ?? [] },
    finishReason: reply.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
    usage:
      reply.usage === undefined
        ? { inputTokens: Math.ceil(read / 4), outputTokens: Math.ceil(written / 4) }
        : reply.usage,
  }
}

function chat(answer: Answer): unknown {
  const message = {
    role: 'assistant',
    content: answer.text === '' && (answer.toolCalls.length > 0 || answer.refusal !== undefined) ? null : answer.text,
    refusal: answer.refusal ?? null,
    ...(answer.toolCalls.length > 0 && { tool_calls: answer.toolCalls.map(chatToolCall) }),
  }
  return {
    ...chatHead(answer, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: answer.finishReason }],
    ...(answer.usage && { usage: chatUsage(answer.usage) }),
  }
}

function chatChunks(answer: Answer): unknown[] {
  const head = chatHead(answer, 'chat.completion.chunk')
  const delta = (value: unknown, finishReason: string | null = null) => ({
    ...head,
    choices: [{ index: 0, delta: value, finish_reason: finishReason }],
  })
  return [
    delta({ role: 'assistant', content: '' }),
    ...inPieces(answer.text).map((content) => delta({ content })),
    ...inPieces(answer.refusal ?? '').map((refusal) => delta({ refusal })),
    ...answer.toolCalls.map((call, index) => delta({ tool_calls: [{ index, ...chatToolCall(call) }] })),
    delta({}, answer.finishReason),
    ...(answer.usage ? [{ ...head, choices: [], usage: chatUsage(answer.usage) }] : []),
  ]
}

function chatHead(answer: Answer, object: string): object {
  return { id: `chatcmpl-${answer.id}`, object, created: 0, model: answer.model }
}

function chatToolCall(call: Answer['toolCalls'][number]): object {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } }
}

function chatUsage(usage: NonNullable<Answer['usage']>): object {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedInputTokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  }
}

type OutputItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string }

function responses(answer: Answer, output: readonly OutputItem[] = outputItems(answer)): Record<string, unknown> {
  const incomplete = incompleteReason(answer.finishReason)
  return {
    id: `resp_${answer.id}`,
    object: 'response',
    created_at: 0,
    status: incomplete === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    model: answer.model,
    ...answer.repeated,
    output,
    usage: answer.usage && {
      input_tokens: answer.usage.inputTokens,
      input_tokens_details: { cached_tokens: answer.usage.cachedInputTokens ?? 0 },
      output_tokens: answer.usage.outputTokens,
      output_tokens_details: { reasoning_tokens: answer.usage.reasoningTokens ?? 0 },
      total_tokens: answer.usage.inputTokens + answer.usage.outputTokens,
    },
  }
}

function incompleteReason(finishReason: Answer['finishReason']): string | undefined {
  if (finishReason === 'length') return 'max_output_tokens'
  return finishReason === 'content_filter' ? 'content_filter' : undefined
}

function outputItems(answer: Answer): OutputItem[] {
  const content = [
    ...(answer.text === '' ? [] : [{ type: 'output_text', text: answer.text, annotations: [] }]),
    ...(answer.refusal === undefined ? [] : [{ type: 'refusal', refusal: answer.refusal }]),
  ]
  return [
    ...(content.length === 0
      ? []
      : [{ type: 'message', id: `msg_${answer.id}`, role: 'assistant', status: 'completed', content }]),
    ...answer.toolCalls.map((call) => ({
      type: 'function_call',
      id: `fc_${call.id}`,
      call_id: call.id,
      name: call.name,
      arguments: call.arguments,
      status: 'completed',
    })),
  ]
}

function responsesEvents(answer: Answer): unknown[] {
  const items = outputItems(answer)
  const whole = responses(answer, items)
  const opening = { ...whole, status: 'in_progress', output: [], usage: null, incomplete_details: null }
  const parts = items.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: begun(item) },
    ...itemEvents(item, output_index, answer),
    { type: 'response.output_item.done', output_index, item },
  ])
  return [
    { type: 'response.created', response: opening },
    { type: 'response.in_progress', response: opening },
    ...parts,
    { type: whole['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed', response: whole },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

function begun(item: OutputItem): OutputItem {
  return item.type === 'message'
    ? { ...item, status: 'in_progress', content: [] }
    : { ...item, status: 'in_progress', arguments: '' }
}

function itemEvents(item: OutputItem, output_index: number, answer: Answer): Record<string, unknown>[] {
  const at = { item_id: item.id, output_index }
  if (item.type === 'function_call') {
    const all = String(item['arguments'])
    return [
      ...inPieces(all).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
      { type: 'response.function_call_arguments.done', ...at, arguments: all },
    ]
  }
  const { refusal } = answer
  return [
    ...inPieces(answer.text).map((delta) => ({ type: 'response.output_text.delta', ...at, content_index: 0, delta })),
    ...(refusal === undefined ? [] : [{ type: 'response.refusal.done', ...at, content_index: 0, refusal }]),
  ]
}

/** Splits a text into words for streaming. Cuts only after white space, so that no surrogate pair is split. */
function inPieces(text: string): string[] {
  return text.match(/\S*\s+|\S+$/g) ?? []
}

function json(body: string): WireBody {
  const middle = Math.floor(body.length / 2)
  return { contentType: 'application/json', pieces: [body.slice(0, middle), body.slice(middle)] }
}

function events(values: readonly unknown[]): WireBody {
  return {
    contentType: 'text/event-stream',
    pieces: [...values.map((value) => `data: ${JSON.stringify(value)}\n\n`), 'data: [DONE]\n\n'],
  }
}

import type { Message, Part } from '../../model/message.ts'
import { makeMessage } from '../content/messages.ts'
import type { Dialect } from '../dialect.ts'
import { isRecord } from '../json.ts'
import { genAi } from './gen-ai.ts'

/** Qwen Code's own traces, by the GenAI conventions. A tool's result is in an object `{ output }`. */
export const qwenCode: Dialect = {
  ...genAi,
  name: 'qwen-code',

  namespaces: [],
  recognises: (scopeName) => scopeName === 'qwen-code',

  input: (span, logs) => genAi.input?.(span, logs)?.map(plain),
  toolResult: (span, logs) => outputIn(genAi.toolResult?.(span, logs)),

  absence: (span, fact, logs) =>
    CONTENT.some((key) => span.attributes[key] !== undefined)
      ? genAi.absence?.(span, fact, logs)
      : { why: 'not-captured', switch: 'QWEN_TELEMETRY_INCLUDE_SENSITIVE_SPAN_ATTRIBUTES=true' },

  ownContentKeys: [...(genAi.ownContentKeys ?? []), 'new_context', 'error'],
}

const CONTENT = ['gen_ai.input.messages', 'gen_ai.tool.call.arguments']

function plain(message: Message): Message {
  const parts = message.parts.map((part): Part =>
    part.type === 'tool_call_response' ? { ...part, response: outputIn(part.response) } : part,
  )
  return makeMessage(message.role, parts, message.name)
}

function outputIn(result: unknown): unknown {
  return isRecord(result) && Object.keys(result).length === 1 && 'output' in result ? result.output : result
}

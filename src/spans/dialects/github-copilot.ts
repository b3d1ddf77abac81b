import type { Message, Part } from '../../model/message.ts'
import { makeMessage } from '../content/messages.ts'
import type { Dialect } from '../dialect.ts'
import { genAi } from './gen-ai.ts'

/** GitHub Copilot's own traces (its CLI, and agents in VS Code), by the GenAI conventions. Each question begins with the time. */
export const githubCopilot: Dialect = {
  ...genAi,
  name: 'github-copilot',
  toolSpans: 'always',

  namespaces: [],
  recognises: (scopeName) => scopeName === 'github.copilot',

  input: (span, logs) => genAi.input?.(span, logs)?.map(withoutTime),

  absence(span, fact, logs) {
    // Of a sub-agent's model calls, only tokens and tools are recorded.
    if (span.attributes['github.copilot.initiator'] === 'sub-agent') return { why: 'not-recorded' }
    const hasContent = CONTENT.some((key) => span.attributes[key] !== undefined)
    return hasContent
      ? genAi.absence?.(span, fact, logs)
      : { why: 'not-captured', switch: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true' }
  },

  contentKeys: [...(genAi.contentKeys ?? []), 'github.copilot.tool.parameters.*'],
}

const CONTENT = ['gen_ai.input.messages', 'gen_ai.tool.call.arguments']

const TIME = /^<current_datetime>[^<]{0,100}<\/current_datetime>\s{0,10}/

function withoutTime(message: Message): Message {
  if (message.role !== 'user') return message
  const parts = message.parts.map((part): Part =>
    part.type === 'text' ? { ...part, content: part.content.replace(TIME, '') } : part,
  )
  return makeMessage(message.role, parts, message.name)
}

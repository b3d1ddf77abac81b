import type { SpanFacts } from '../../spans/facts.ts'
import { textMessage } from '../../spans/content/messages.ts'
import { unwrapBlocks } from '../../spans/content/parts.ts'
import { isRecord, textOf } from '../../spans/json.ts'
import type { Message } from '../../model/message.ts'

/** What a tool's span says about the agent that ran inside it. */
export interface Starter {
  readonly name: string | undefined
  /** The name, if the call has it. */
  readonly agentName: string | undefined
  readonly input: readonly Message[] | undefined
  readonly output: string | undefined
}

/** Reads the question from the tool's arguments, the answer from its result, and the name from either or from the tool. */
export function starterOf(tool: SpanFacts): Starter {
  const question = textIn(tool.toolArguments, QUESTION_KEYS)
  return {
    name: tool.tool?.agentName ?? tool.tool?.name,
    agentName: tool.tool?.agentName,
    input: question === undefined ? undefined : [textMessage('user', question)],
    output: textIn(tool.toolResult, ANSWER_KEYS),
  }
}

/** Common names of parameters with the question, and of result keys with the answer, the likeliest first. */
const QUESTION_KEYS = ['prompt', 'input', 'query', 'question', 'task', 'message', 'request', 'instructions', 'text']
const ANSWER_KEYS = ['content', 'output', 'answer', 'result', 'response', 'text']

/** A text, the text of content blocks, the text under the first matching key, or the only text of an object. */
function textIn(value: unknown, keys: readonly string[]): string | undefined {
  const inner = Array.isArray(value) ? unwrapBlocks(value) : value
  if (typeof inner === 'string') return textOf(inner)
  if (!isRecord(inner)) return undefined
  for (const key of keys) {
    const found = inner[key]
    const text = Array.isArray(found) ? unwrappedText(found) : textOf(found)
    if (text !== undefined) return text
  }
  const values = Object.values(inner)
  return values.length === 1 ? textOf(values[0]) : undefined
}

/** The texts of blocks as written: an answer that looks like JSON stays text. */
function unwrappedText(blocks: readonly unknown[]): string | undefined {
  const texts = blocks.map((block) => (isRecord(block) && block.type === 'text' ? block.text : undefined))
  return texts.every((text) => typeof text === 'string') ? textOf(texts.join('')) : undefined
}

import type { Message } from '../../model/message.ts'
import { comparisonKey } from '../comparison-key.ts'
import { inputOf, outputOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'

/** The ids of the tool calls that messages answer since the last question, in order. Earlier messages are history. */
export function answeredIds(messages: readonly Message[]): readonly string[] {
  const ids: string[] = []
  for (const message of messages.slice(messages.findLastIndex(isQuestion) + 1)) {
    for (const part of message.parts) {
      if (part.type === 'tool_call_response' && part.id !== undefined) ids.push(part.id)
    }
  }
  return ids
}

/** Whether a message is a user's text without any tool results. */
export function isQuestion(message: Message | undefined): boolean {
  return message?.role === 'user' && !message.parts.some((part) => part.type === 'tool_call_response')
}

/** Maximum characters of a message's text that are compared. */
const MAX_CHARACTERS = 20_000

/** The part of a message that comparison uses. */
interface Content {
  /** The text's beginning, and the length of all of it. */
  readonly text: string
  readonly length: number
  /** The key of its tool calls. */
  readonly calls: string
}

/** What a call that continues a model call repeats of it. */
interface Said {
  /** How many messages the model was given, and the last one. */
  readonly given: number
  readonly lastGiven: Content | undefined
  /** Whether its answer had tool calls, or may have had some that were not recorded. */
  readonly mayHaveCalls: boolean
  readonly answer: Content | undefined
}

/** Finds model calls that repeat earlier ones, in one layout. Each call may be compared with many others, so what is compared is kept. */
export class Continuity {
  readonly #said = new Map<TraceSpan, Said>()
  readonly #contents = new Map<Message, Content>()

  /**
   * Whether a model call's input repeats an earlier call's input and output. If that output had tool calls, any tool calls at that place
   * are enough: some recorded streams merge the parallel calls of an answer, or omit them.
   */
  repeats(input: readonly Message[], earlier: TraceSpan): boolean {
    const { given, lastGiven, mayHaveCalls, answer } = this.#saidBy(earlier)
    if (mayHaveCalls && lastGiven !== undefined && isFollowed(input, given)) {
      const same = input[given - 1]
      if (same !== undefined && isSame(this.#contentOf(same), lastGiven)) return true
    }
    if (answer === undefined) return false
    for (let at = Math.max(0, Math.min(given, input.length - 1)); at < input.length; at += 1) {
      const message = input[at]
      if (message?.role === 'assistant' && isSame(this.#contentOf(message), answer)) return true
    }
    return false
  }

  #saidBy(earlier: TraceSpan): Said {
    const known = this.#said.get(earlier)
    if (known !== undefined) return known
    const answer = outputOf(earlier)?.at(-1)
    const given = inputOf(earlier) ?? []
    const lastGiven = given.at(-1)
    const said = {
      given: given.length,
      lastGiven: lastGiven && this.#contentOf(lastGiven),
      mayHaveCalls: answer === undefined || isSilent(answer) ? earlier.outcome.error === undefined : hasCalls(answer),
      answer: answer && this.#contentOf(answer),
    }
    this.#said.set(earlier, said)
    return said
  }

  #contentOf(message: Message): Content {
    const known = this.#contents.get(message)
    if (known !== undefined) return known
    const content = toContent(message)
    this.#contents.set(message, content)
    return content
  }
}

/** Whether a message is followed by tool calls, or by what looks like the answer to calls that were not recorded. */
function isFollowed(input: readonly Message[], at: number): boolean {
  const next = input[at]
  return next?.role === 'assistant' && (hasCalls(next) || isAnswered(input, at))
}

/** Whether the next messages are a model's answer without text, whose calls were not recorded, and a tool's result. */
function isAnswered(input: readonly Message[], at: number): boolean {
  const next = input[at]
  return next !== undefined && isSilent(next) && input[at + 1]?.role === 'tool'
}

/** Whether nothing of the model's answer was recorded. */
function isSilent(message: Message): boolean {
  return !hasCalls(message) && (message.text ?? '') === ''
}

function hasCalls(message: Message): boolean {
  return message.parts.some((part) => part.type === 'tool_call')
}

/** The text is not copied: a layout may compare thousands of long messages in one turn. */
function toContent(message: Message): Content {
  const text = message.text ?? ''
  const calls = message.parts.filter((part) => part.type === 'tool_call')
  return {
    text: text.slice(0, MAX_CHARACTERS),
    length: text.length,
    calls: calls
      .flatMap((call) => [call.name, call.arguments])
      .map(comparisonKey)
      .join(),
  }
}

function isSame(left: Content, right: Content): boolean {
  return left.length === right.length && left.text === right.text && left.calls === right.calls
}

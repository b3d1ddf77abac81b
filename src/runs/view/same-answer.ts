import { canonicalJson, isRecord, parseJson } from '../../spans/json.ts'
import { callsOf, outputOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { assistantText, textBesideCalls } from './message-text.ts'

/** How many characters of two texts, without blanks, are compared, from their ends. */
const MAX_CHARACTERS = 20_000

/** The text with which a model call answered; the text before tool calls is no answer. */
export function answerIn(model: TraceSpan): string | undefined {
  const said = outputOf(model)
  if (said === undefined) return undefined
  return callsOf(model).length > 0 ? textBesideCalls(said) : assistantText(said)
}

/** A text that is compared with others: blanks and the form of JSON do not count. */
export class ComparedText {
  readonly length: number
  readonly #end: string
  readonly #json: string | undefined

  constructor(text: string) {
    const plain = withoutBlanks(text)
    this.length = plain.length
    this.#end = plain.slice(-MAX_CHARACTERS)
    const value = /^[[{]/.test(plain) && plain.length <= MAX_CHARACTERS ? parseJson(text) : undefined
    this.#json = isRecord(value) || Array.isArray(value) ? canonicalJson(value) : undefined
  }

  equals(other: ComparedText): boolean {
    if (this.length === other.length && this.#end === other.#end) return true
    return this.#json !== undefined && this.#json === other.#json
  }

  /** Whether this text ends with the other one: libraries join the texts before tool calls to the answer. */
  endsWith(other: ComparedText): boolean {
    return other.length > 0 && other.length <= this.length && this.#end.endsWith(other.#end)
  }

  /** Whether the other text is in this one. */
  contains(other: ComparedText): boolean {
    return other.length > 0 && this.#end.includes(other.#end)
  }
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

import { isRecord } from '../../spans/json.ts'
import type { Inquiry, Question } from '../inquiry.ts'
import { expectedObject } from './parse-reply.ts'
import type { Parsed } from './parse-reply.ts'

/** An answer of a reply, before it is matched to a question. */
export interface RawAnswer {
  readonly verdict: unknown
  readonly reasoning: string
  readonly tools: readonly string[]
}

/** A reply with a valid shape. */
export interface RawReply {
  /** With the id as the reply writes it. */
  readonly answers: readonly (RawAnswer & { readonly id: string })[]
  /** By list name. */
  readonly items: ReadonlyMap<string, readonly (RawAnswer & { readonly text: string })[]>
  /** By name. */
  readonly notes: ReadonlyMap<string, readonly string[]>
}

type Schema = Readonly<Record<string, unknown>>

/** The most values in an enum: providers refuse schemas with many more, and unknown values are ignored anyway. */
const MOST_CHOICES = 128

/**
 * The JSON Schema of a reply, in the subset of strict structured output: every property is required, and no others are allowed. Lists and
 * notes come before answers, and reasoning before the verdict, so that the model can rely on what it wrote first.
 */
export function replySchema({ lists = [], notes = [], questions }: Inquiry): Schema {
  const text = { type: 'string' }
  return object({
    ...Object.fromEntries(
      lists.map(({ name, question }) => [
        name,
        array(
          object({
            text,
            ...(question && { reasoning: text, ...chosen([question]), verdict: choice(question.verdicts) }),
          }),
        ),
      ]),
    ),
    ...(notes.length > 0 && {
      notes: object(Object.fromEntries(notes.map(({ name, list }) => [name, list === true ? array(text) : text]))),
    }),
    ...(questions.length > 0 && {
      answers: array(
        object({
          id: choice(questions.flatMap(({ ids }) => ids)),
          reasoning: text,
          ...chosen(questions),
          verdict: choice(questions.flatMap(({ verdicts }) => verdicts)),
        }),
      ),
    }),
  })
}

/** The most items read from one list, far more than any list asks for. */
const MOST_ITEMS = 200

/** Reads the shape of a reply. */
export function readReply({ lists = [], notes = [], questions }: Inquiry, value: unknown): Parsed<RawReply> {
  // Without a schema some models return only the answers.
  const reply = isAnswerList(value) ? { answers: value } : value
  if (!isRecord(reply)) return expectedObject(value)
  const entries = questions.length === 0 ? [] : answerEntries(reply.answers)
  if (entries === undefined) return { ok: false, message: '"answers" must be an array of { id, reasoning, verdict }' }
  const items = new Map<string, (RawAnswer & { text: string })[]>()
  for (const { name, isOptional = false } of lists) {
    const list = toItems(reply[name] ?? (isOptional ? [] : undefined))
    if (list === undefined) return { ok: false, message: `"${name}" must be an array of { text, reasoning, verdict }` }
    items.set(name, list)
  }
  const written = isRecord(reply.notes) ? reply.notes : {}
  return {
    ok: true,
    value: {
      answers: entries.map((entry) => ({ id: String(entry.id), ...toAnswer(entry) })),
      items,
      notes: new Map(notes.map(({ name }) => [name, texts(written[name])])),
    },
  }
}

/** Whether a whole reply is a list of answers, and not an inner list of a reply that was cut off. */
function isAnswerList(value: unknown): boolean {
  return Array.isArray(value) && value.some((entry) => isRecord(entry) && 'id' in entry)
}

/** Accepts an array of entries, or an object keyed by id, which models without a schema often write. */
function answerEntries(value: unknown): readonly Readonly<Record<string, unknown>>[] | undefined {
  if (Array.isArray(value)) return value.filter(isRecord)
  if (!isRecord(value)) return undefined
  return Object.entries(value).map(([id, entry]) => (isRecord(entry) ? { ...entry, id } : { id, verdict: entry }))
}

/** Rejects unreadable items instead of dropping them: an item that is not listed would not lower the score. */
function toItems(value: unknown): (RawAnswer & { text: string })[] | undefined {
  if (!Array.isArray(value)) return undefined
  const items: (RawAnswer & { text: string })[] = []
  for (const item of value.slice(0, MOST_ITEMS)) {
    // Without a schema some models list only the texts.
    const entry: unknown = typeof item === 'string' ? { text: item } : item
    if (!isRecord(entry) || typeof entry.text !== 'string') return undefined
    if (entry.text.trim() !== '') items.push({ text: entry.text.trim(), ...toAnswer(entry) })
  }
  return items
}

function toAnswer(entry: Readonly<Record<string, unknown>>): RawAnswer {
  const { verdict, reasoning, tools, calls } = entry
  return { verdict, reasoning: typeof reasoning === 'string' ? reasoning.trim() : '', tools: texts(tools ?? calls) }
}

function texts(value: unknown): string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.filter((text) => typeof text === 'string' && text.trim() !== '').map(String)
}

/** The tools or calls that an answer may name. */
function chosen(questions: readonly Pick<Question, 'tools'>[]): Readonly<Record<string, Schema>> {
  const choices = questions.flatMap(({ tools }) => tools ?? [])
  const ids = choices.flatMap((each) => each.ids)
  return ids.length === 0 ? {} : { [choices[0]?.of ?? 'tools']: array(choice(ids)) }
}

function choice(values: readonly string[]): Schema {
  const distinct = [...new Set(values)]
  return distinct.length > MOST_CHOICES ? { type: 'string' } : { type: 'string', enum: distinct }
}

function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

function array(items: Schema): Schema {
  return { type: 'array', items }
}

import { isRecord } from '../../spans/json.ts'
import type { Inquiry, ItemList, Question } from '../inquiry.ts'
import { expectedObject } from './parse-reply.ts'
import type { Parsed } from './parse-reply.ts'

/** An answer as it stands in a reply, before it is held against what was asked. */
export interface RawAnswer {
  readonly id: string
  readonly verdict: unknown
  readonly reasoning: string
  readonly picks: readonly string[]
}

/** A reply whose shape could be read. */
export interface RawReply {
  readonly answers: readonly RawAnswer[]
  readonly items: ReadonlyMap<string, readonly { readonly id: string; readonly text: string }[]>
  readonly notes: ReadonlyMap<string, readonly string[]>
}

type Schema = Readonly<Record<string, unknown>>

/**
 * The JSON Schema of a reply, in the subset that strict structured output takes: every property required, none beside them.
 * Lists come before answers, and reasoning before the verdict: what is written first is what the rest can lean on.
 */
export function replySchema(inquiry: Inquiry, questions: readonly Question[]): Schema {
  const lists = inquiry.lists ?? []
  const verdicts = [...questions, ...lists.flatMap(({ question }) => question ?? [])].flatMap((asked) => asked.verdicts)
  const ids = questions.flatMap((question) => question.ids)
  const openIds = lists.some(({ question }) => question !== undefined)
  const picks = new Map(
    questions.flatMap((question) => (question.picks ? [[question.picks.name, question.picks.from]] : [])),
  )
  const text = { type: 'string' }
  return object({
    ...Object.fromEntries(lists.map(({ name }) => [name, array(object({ id: text, text }))])),
    answers: array(
      object({
        id: openIds ? text : choice(ids),
        reasoning: text,
        ...Object.fromEntries([...picks].map(([name, from]) => [name, array(choice(from))])),
        verdict: choice([...new Set(verdicts)]),
      }),
    ),
    ...(inquiry.notes !== undefined && {
      notes: object(
        Object.fromEntries(inquiry.notes.map(({ name, list }) => [name, list === true ? array(text) : text])),
      ),
    }),
  })
}

/** Values that a schema may list: providers refuse schemas with many more, and what is not listed is ignored all the same. */
const MOST_CHOICES = 128

function choice(values: readonly string[]): Schema {
  return values.length > MOST_CHOICES ? { type: 'string' } : { type: 'string', enum: [...values] }
}

/** Items of one list that are looked at: far more than any list asks for. */
const MOST_ITEMS = 200

/** Reads the shape of a reply. What it leaves out, or says beside what was asked, is left to `align`. */
export function readReply(inquiry: Inquiry, questions: readonly Question[], value: unknown): Parsed<RawReply> {
  // Without a schema some models give the answers alone.
  const reply = Array.isArray(value) ? { answers: value } : value
  if (!isRecord(reply)) return expectedObject(value)
  const entries = answerEntries(reply.answers)
  if (entries === undefined) return { ok: false, message: '"answers" must be an array of { id, reasoning, verdict }' }
  const lists = inquiry.lists ?? []
  const wrong = lists.find(({ name }) => !isItemList(reply[name]))
  if (wrong !== undefined) return { ok: false, message: `"${wrong.name}" must be an array of { id, text }` }
  const pickNames = [...new Set(questions.flatMap(({ picks }) => picks?.name ?? []))]
  const notes = isRecord(reply.notes) ? reply.notes : {}
  return {
    ok: true,
    value: {
      answers: entries.map((entry) => ({
        id: String(entry.id),
        verdict: entry.verdict,
        reasoning: typeof entry.reasoning === 'string' ? entry.reasoning : '',
        picks: pickNames.flatMap((name) => texts(entry[name])),
      })),
      items: new Map(lists.map((list) => [list.name, toItems(list, reply[list.name])])),
      notes: new Map((inquiry.notes ?? []).map(({ name }) => [name, texts(notes[name])])),
    },
  }
}

/** An array of entries, or an object of them by id, as models without a schema like to write. */
function answerEntries(value: unknown): readonly Readonly<Record<string, unknown>>[] | undefined {
  if (Array.isArray(value)) return value.filter(isRecord)
  if (!isRecord(value)) return undefined
  return Object.entries(value).map(([id, entry]) => (isRecord(entry) ? { ...entry, id } : { id, verdict: entry }))
}

/** An item that cannot be read must not vanish: what is not listed costs no score. */
function isItemList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((item: unknown) => typeof item === 'string' || (isRecord(item) && typeof item.text === 'string'))
  )
}

/** Without a schema some models list the texts alone. */
function toItems({ prefix }: ItemList, value: unknown): { id: string; text: string }[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, MOST_ITEMS).flatMap((item: unknown, index) => {
    const { id, text } = isRecord(item) ? item : { id: `${prefix}${index + 1}`, text: item }
    return typeof text === 'string' && text.trim() !== '' ? [{ id: String(id), text: text.trim() }] : []
  })
}

function texts(value: unknown): string[] {
  const all: readonly unknown[] = Array.isArray(value) ? value : [value]
  return all.filter((text) => typeof text === 'string' && text.trim() !== '').map(String)
}

function object(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

function array(items: Schema): Schema {
  return { type: 'array', items }
}

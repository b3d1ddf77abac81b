import { isRecord } from '../../spans/json.ts'
import { NO_ITEM } from '../controls/contradiction.ts'
import type { ItemList } from '../inquiry.ts'
import { noneKey } from '../prompt/describe-inquiry.ts'
import type { PreparedCall } from '../prompt/prepare-call.ts'
import { expectedObject } from './parse-reply.ts'
import type { Parsed } from './parse-reply.ts'

/** An answer of a reply, before it is matched to a question. */
export interface RawAnswer {
  readonly id: string
  readonly verdict: unknown
  readonly reasoning: string
  readonly picks: readonly string[]
}

/** An item of a reply; `sentence` is absent if it names none. */
export interface RawItem {
  readonly id: string
  readonly text: string
  readonly sentence?: number
}

/** A reply with a valid shape. */
export interface RawReply {
  readonly answers: readonly RawAnswer[]
  readonly items: ReadonlyMap<string, readonly RawItem[]>
  /** The numbers of the sentences without an item, by list. */
  readonly without: ReadonlyMap<string, readonly number[]>
  readonly notes: ReadonlyMap<string, readonly string[]>
}

type Schema = Readonly<Record<string, unknown>>

/**
 * The JSON Schema of a reply, in the subset of strict structured output: every property is required, and no others are allowed. Lists come
 * before answers, and reasoning before the verdict, so that the model can rely on what it wrote first.
 */
export function replySchema({
  lists,
  questions,
  notes,
  givenItems,
}: Pick<PreparedCall, 'lists' | 'questions' | 'notes' | 'givenItems'>): Schema {
  const asked = [...questions, ...lists.flatMap(({ question }) => question ?? [])]
  const ids = questions.flatMap((question) => question.ids)
  const openIds = lists.some(({ question }) => question !== undefined)
  const picks = new Map(
    questions.flatMap((question) => (question.picks ? [[question.picks.name, question.picks.from]] : [])),
  )
  const text = { type: 'string' }
  const number = { type: 'integer' }
  return object({
    ...Object.fromEntries(
      lists.flatMap(({ name, coversAll = true }): [string, Schema][] => [
        [name, array(object({ id: text, sentence: number, text }))],
        ...(coversAll ? [[noneKey(name), array(number)] satisfies [string, Schema]] : []),
      ]),
    ),
    ...(asked.length > 0 && {
      answers: array(
        object({
          id: openIds ? text : choice(ids),
          reasoning: text,
          ...Object.fromEntries([...picks].map(([name, from]) => [name, array(choice(from))])),
          verdict: choice([
            ...new Set([...asked.flatMap(({ verdicts }) => verdicts), ...(givenItems.size > 0 ? [NO_ITEM] : [])]),
          ]),
        }),
      ),
    }),
    ...(notes.length > 0 && {
      notes: object(Object.fromEntries(notes.map(({ name, list }) => [name, list === true ? array(text) : text]))),
    }),
  })
}

/** The most values in an enum: providers refuse schemas with many more, and unknown values are ignored anyway. */
const MOST_CHOICES = 128

function choice(values: readonly string[]): Schema {
  return values.length > MOST_CHOICES ? { type: 'string' } : { type: 'string', enum: [...values] }
}

/** The most items read from one list, far more than any list asks for. */
const MOST_ITEMS = 200

/** Reads the shape of a reply. `align` handles missing and additional answers. */
export function readReply(
  { lists, questions, notes }: Pick<PreparedCall, 'lists' | 'questions' | 'notes'>,
  value: unknown,
): Parsed<RawReply> {
  // Without a schema some models return only the answers.
  const reply = Array.isArray(value) ? { answers: value } : value
  if (!isRecord(reply)) return expectedObject(value)
  const isAsked = questions.length > 0 || lists.some(({ question }) => question !== undefined)
  const entries = isAsked ? answerEntries(reply.answers) : []
  if (entries === undefined) return { ok: false, message: '"answers" must be an array of { id, reasoning, verdict }' }
  const wrong = lists.find(({ name }) => !isItemList(reply[name]))
  if (wrong !== undefined) return { ok: false, message: `"${wrong.name}" must be an array of { id, sentence, text }` }
  const pickNames = [...new Set(questions.flatMap(({ picks }) => picks?.name ?? []))]
  const given = isRecord(reply.notes) ? reply.notes : {}
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
      without: new Map(lists.map(({ name }) => [name, toNumbers(reply[noneKey(name)])])),
      notes: new Map(notes.map(({ name }) => [name, texts(given[name])])),
    },
  }
}

/** Accepts an array of entries, or an object keyed by id, which models without a schema often write. */
function answerEntries(value: unknown): readonly Readonly<Record<string, unknown>>[] | undefined {
  if (Array.isArray(value)) return value.filter(isRecord)
  if (!isRecord(value)) return undefined
  return Object.entries(value).map(([id, entry]) => (isRecord(entry) ? { ...entry, id } : { id, verdict: entry }))
}

/** Rejects unreadable items instead of dropping them: an item that is not listed would not lower the score. */
function isItemList(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((item: unknown) => typeof item === 'string' || (isRecord(item) && typeof item.text === 'string'))
  )
}

/** Without a schema some models list only the texts. */
function toItems({ prefix }: ItemList, value: unknown): RawItem[] {
  if (!Array.isArray(value)) return []
  return value.slice(0, MOST_ITEMS).flatMap((item: unknown, index): RawItem[] => {
    const { id, text, sentence } = isRecord(item)
      ? item
      : { id: `${prefix}${index + 1}`, text: item, sentence: undefined }
    if (typeof text !== 'string' || text.trim() === '') return []
    const number = toNumber(sentence)
    return [{ id: String(id), text: text.trim(), ...(number !== undefined && { sentence: number }) }]
  })
}

function toNumbers(value: unknown): number[] {
  return Array.isArray(value) ? value.slice(0, 1000).flatMap((one: unknown) => toNumber(one) ?? []) : []
}

/** Accepts `3`, `"3"`, and the number as shown in the material. */
function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const digits = typeof value === 'string' ? /^\[?(?:[0-9a-f]{8} )?(\d{1,4})\]?$/.exec(value.trim())?.[1] : undefined
  return digits === undefined ? undefined : Number(digits)
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

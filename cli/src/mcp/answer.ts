import { createHash } from 'node:crypto'

import { BoundedMap } from '../../../src/spans/bounded-map.ts'
import { UsageError } from '../usage-error.ts'

/** Maximum bytes of an answer, as JSON in UTF-8, with its sentence, which is sent twice. */
const MAX_BYTES = 8192
const MAX_NAME = 80
const MAX_SENTENCE = 600
/** How long texts of strangers may be; shorter if the answer would be too long. */
const SHORTEST = 120
const CONTENT_CHARACTERS = [1500, 700, 300, SHORTEST]
/** The fields whose texts are ours, or of the configuration; names in them are in quotation marks. */
const OURS: ReadonlySet<string> = new Set(['says', 'link', 'next', 'meaning', 'todo', 'toRecord'])
/** Marks that nobody sees, or that change how the text around them is seen; some can carry a hidden text. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u{e0100}-\u{e01ef}]/gu
const INVISIBLE_IN_CONTENT = /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\u{e0100}-\u{e01ef}]/gu

/** An answer of a tool. Fields whose names begin with `content` are texts of strangers; other texts are names, or ours. */
export type AnswerFields = Readonly<Record<string, unknown>>

/** How names are shown, and what they were, because tools take what other tools show. */
export class Names {
  readonly #originals = new BoundedMap<string, string>(10_000)

  /** A name on one line, of at most 80 characters, with visible marks. Of two long ones that begin alike, each has an end of its own. */
  show(name: string): string {
    const line = name.slice(0, MAX_NAME + 1).replaceAll(INVISIBLE, visible)
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 6)
    const shown = line.length <= MAX_NAME ? line : `${line.slice(0, MAX_NAME - 7).toWellFormed()}…${hash}`
    if (shown !== name) this.#originals.set(shown, name)
    return shown
  }

  /** The same in quotation marks, for a sentence. */
  readonly quote = (name: string): string => `"${this.show(name).replaceAll('"', "'")}"`

  original(shown: string): string {
    return this.#originals.get(shown) ?? shown
  }
}

/** How answers are written. */
export interface AnswerStyle {
  readonly names: Names
  /** Whether there are fields with texts of strangers. */
  readonly hasContent: boolean
}

/** Where an answer is in its list: which items were shown before, after which place of the page's, and where the page goes on. */
export interface ListPlace {
  /** The field of the list. */
  readonly list: string
  readonly skip: number
  readonly after: string | undefined
  readonly next: string | undefined
}

/**
 * The answer as it leaves: names on one line, and all of it within the limit. Long texts are cut first, then the end of its list, where `next`
 * goes on, and then the longest other lists; `leftOut` counts what is gone of these.
 */
export function bounded(answer: AnswerFields, style: AnswerStyle & ListPlace): AnswerFields {
  const { list, skip, after, next } = style
  const items: unknown = answer[list]
  const all: readonly unknown[] = Array.isArray(items) ? items.slice(skip) : []
  if (skip > 0 && all.length === 0) throw new UsageError('cursor: expected next of an answer with the same arguments')
  // What goes on need not be said again.
  const head = skip === 0 ? answer : { says: answer['says'], link: answer['link'] }
  const upTo = (count: number): AnswerFields => {
    const rest = count < all.length ? `${skip + count}${after === undefined ? '' : `@${after}`}` : next && `0@${next}`
    return { ...head, ...(Array.isArray(items) && { [list]: all.slice(0, count), next: rest }) }
  }
  const whole = CONTENT_CHARACTERS.map((characters) => clean(upTo(all.length), style, characters)).find(fits)
  if (whole !== undefined) return whole
  let [count, most] = [1, all.length]
  while (count < most) {
    const middle = Math.ceil((count + most) / 2)
    if (fits(clean(upTo(middle), style, SHORTEST))) count = middle
    else most = middle - 1
  }
  let shown = clean(upTo(count), style, SHORTEST)
  for (let leftOut = 0; !fits(shown);) {
    const longest = listsIn(shown).toSorted((left, right) => bytesOf(right) - bytesOf(left))[0]
    if (longest === undefined) throw new Error('the answer is too long')
    leftOut += longest.splice(Math.floor(longest.length / 2)).length
    shown = { ...shown, leftOut }
  }
  return shown
}

/** The lists of which something can be left out. */
function listsIn(value: unknown): unknown[][] {
  if (typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap(listsIn)
  return Array.isArray(value) && value.length > 1 && typeof value[0] !== 'number' ? [value, ...inside] : inside
}

function fits(answer: AnswerFields): boolean {
  return bytesOf(answer) + bytesOf(answer['says']) <= MAX_BYTES
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '')
}

function clean(answer: AnswerFields, { names, hasContent }: AnswerStyle, characters: number): Record<string, unknown> {
  const cleanValue = (key: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => cleanValue(key, item))
    if (typeof value === 'object' && value !== null) return cleanFields(value)
    if (typeof value !== 'string') return value
    if (key.startsWith('content')) return cut(value, characters, INVISIBLE_IN_CONTENT)
    return OURS.has(key) ? cut(value, MAX_SENTENCE, INVISIBLE) : names.show(value)
  }
  const cleanFields = (fields: object): Record<string, unknown> => {
    const given: [string, unknown][] = Object.entries(fields)
    const kept = given.filter(([key, value]) => !isEmpty(value) && (hasContent || !key.startsWith('content')))
    return Object.fromEntries(kept.map(([key, value]) => [key, cleanValue(key, value)]))
  }
  return cleanFields(answer)
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

/** The beginning of a text, with visible marks. A text that is cut says how long it is. */
function cut(text: string, characters: number, invisible: RegExp): string {
  const start = text.slice(0, characters + 1).replaceAll(invisible, visible)
  if (start.length <= characters) return start
  const end = `… (${text.length.toLocaleString('en')} characters)`
  return `${start.slice(0, characters - end.length).toWellFormed()}${end}`
}

function visible(mark: string): string {
  return `[U+${mark.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`
}

/**
 * Shorter text is parsed without checking its nesting: at two characters per level, it cannot overflow the stack of code that recurses.
 */
const MAX_UNCHECKED_LENGTH = 4000
/** Longer text is not parsed, because that would block the event loop. */
export const MAX_PARSED_LENGTH: number = 4 * 1024 * 1024
/** Deeper values stay text: `JSON.stringify` recurses, and every run must be printable. */
const MAX_DEPTH = 1000
/** Text with more values stays text: reading, copying and freezing a value takes about half a microsecond. */
const MAX_VALUES = 50_000
/** Further keys of an object take longer, because the object becomes a hash table: each counts as several values. */
export const USUAL_KEYS = 100
export const VALUES_OF_UNUSUAL_KEY = 5

/**
 * Parses JSON text. Returns text that is not JSON (plain, cut off, nested too deeply) unchanged. Structured values, as in SDK 3.x, belong
 * to the application's span, so a copy is returned; `undefined` if they have too many values, or seem to, as an array with a huge length.
 */
export function parseJson(value: unknown): unknown {
  if (typeof value !== 'string') {
    const room = { values: MAX_VALUES }
    const copy = copyOf(value, 0, room)
    return room.values < 0 ? undefined : copy
  }
  if (!mayBeJson(value) || isTooLargeToParse(value)) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Whether text that may be JSON is not parsed because it is too long, has too many values, or is nested too deeply. */
export function isTooLargeToParse(text: string, maxValues: number = MAX_VALUES): boolean {
  return text.length > MAX_PARSED_LENGTH || (text.length > MAX_UNCHECKED_LENGTH && isTooRich(text, maxValues))
}

/** The number of commas in a text: as JSON, it has about as many values. */
export function countCommas(text: string): number {
  let count = 0
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) === COMMA) count++
  return count
}

/** Deeper values are not copied. */
export const MAX_COPY_DEPTH = 100

/**
 * Copies a value deeply, as far as arrays and plain objects go, and up to 50,000 values. Attributes and resources belong to the
 * application's spans, and changes to a run must not be exported with them.
 *
 * @param room how many more values are copied; below zero if there were more
 */
export function copyOf<T>(value: T, depth?: number, room?: { values: number }): T
export function copyOf(value: unknown, depth = 0, room?: { values: number }): unknown {
  if (typeof value !== 'object' || value === null) {
    if (room !== undefined) room.values -= 1
    return value
  }
  return copyOfObject(value, depth, room ?? { values: MAX_VALUES })
}

function copyOfObject(value: object, depth: number, room: { values: number }): unknown {
  room.values -= 1
  if (depth > MAX_COPY_DEPTH) return value
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (let index = 0; index < value.length && room.values >= 0; index++)
      items.push(copyOf<unknown>(value[index], depth + 1, room))
    return items
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!isRecord(value) || (prototype !== Object.prototype && prototype !== null)) return value
  const copy: Record<string, unknown> = {}
  for (const [index, key] of Object.keys(value).entries()) {
    if (index >= USUAL_KEYS) room.values -= VALUES_OF_UNUSUAL_KEY - 1
    if (room.values < 0) break
    if (key !== '__proto__') copy[key] = copyOf(value[key], depth + 1, room)
  }
  return copy
}

/** Like `parseJson`, but parses again if the value is a JSON string with a JSON object or array inside. */
export function parseJsonTwice(value: unknown): unknown {
  const once = parseJson(value)
  if (typeof once !== 'string' || once === value) return once
  const first = once.charCodeAt(0)
  return first === OPEN_BRACE || first === OPEN_BRACKET ? parseJson(once) : once
}

/** Whether text starts like a JSON object (or a list of them) but is invalid, because a length limit cut it off. */
export function isCutJson(text: string): boolean {
  return /^\s*(\[\s*)?\{\s*"/.test(text) && typeof parseJson(text) === 'string'
}

/**
 * Whether text begins like a JSON object or list and does not end like it. Some libraries add a note where they cut it off
 * (`…[truncated, original 330 chars]`), which may end like JSON.
 */
export function isHalfJson(text: string): boolean {
  const closer = text.startsWith('{') ? '}' : text.startsWith('[') ? ']' : undefined
  if (closer === undefined) return false
  if (!text.endsWith(closer)) return true
  const tail = text.slice(Math.max(text.lastIndexOf('"') + 1, text.length - LONGEST_NOTE))
  return /^(?:\{\s*"|\[\s*[[{"])/.test(text) && CUT_NOTE.test(tail)
}

/** A note after the last quote of a JSON text, where only numbers, words such as `true`, and brackets may follow. */
const CUT_NOTE =
  /(?:\.\.|…|[[(<]\s*\.*\s*)\s*[[(<]?\s*(?:\w+[ _-]){0,2}(?:truncated|omitted|clipped|cut|shortened|removed|\+?\d+ more)\b/i
const LONGEST_NOTE = 120

/** JSON text of a value; a string is returned unchanged; `undefined` if there is no JSON form. Never throws. */
export function toJsonText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/**
 * JSON text with sorted keys, so that equal values give equal text. It stops at 200 levels, because deeper values are not worth comparing.
 */
export function canonicalJson(value: unknown): string {
  return toCanonical(value, 0, NO_BOUND)
}

/**
 * Like `canonicalJson`, but bounded: it reads no more of a value than takes as long as that many characters. Longer values that differ only
 * after the bound give the same text if equally much follows. Comparing everything that a run recorded would take seconds.
 */
export function canonicalJsonWithin(maxCharacters: number, value: unknown): string {
  return toCanonical(value, 0, { charactersLeft: maxCharacters })
}

/** The rest of a bound. */
interface Bound {
  charactersLeft: number
}

const NO_BOUND: Bound = { charactersLeft: Number.POSITIVE_INFINITY }

/** Writing a value takes as long as writing this many characters of text. */
const VALUE_CHARACTERS = 8

/** Never throws: a value that cannot be read is equal to any other such value. */
function toCanonical(value: unknown, depth: number, bound: Bound): string {
  try {
    return canonicalOf(value, depth, bound)
  } catch {
    return 'unreadable'
  }
}

function canonicalOf(value: unknown, depth: number, bound: Bound): string {
  if (depth > 200) return '…'
  if (bound.charactersLeft <= 0) return '…'
  bound.charactersLeft -= VALUE_CHARACTERS
  if (Array.isArray(value)) return `[${canonicalItems(value, depth, bound)}]`
  if (isRecord(value)) {
    const entries = Object.keys(value)
      .toSorted()
      .filter((key) => value[key] !== undefined)
      .map((key) => `${JSON.stringify(key)}:${toCanonical(value[key], depth + 1, bound)}`)
    return `{${entries.join(',')}}`
  }
  if (typeof value !== 'string') return toJson(value)
  const shown = value.length > bound.charactersLeft ? value.slice(0, bound.charactersLeft) : value
  bound.charactersLeft -= shown.length
  return shown === value ? JSON.stringify(value) : `${JSON.stringify(shown)}…${value.length}`
}

function canonicalItems(items: readonly unknown[], depth: number, bound: Bound): string {
  const texts: string[] = []
  for (const item of items) {
    texts.push(toCanonical(item, depth + 1, bound))
    if (bound.charactersLeft > 0) continue
    texts.push(`…${items.length}`)
    break
  }
  return texts.join(',')
}

/** True for objects that are neither null nor arrays. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is a non-empty string. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The value as a finite number; also parses strings, because protobuf's JSON writes 64-bit integers as strings. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'bigint') return numberOf(Number(value))
  if (typeof value !== 'string' || value.trim() === '') return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44
// The code of a closing bracket is that of the opening one plus two.
const OPEN_BRACE = 123
const OPEN_BRACKET = 91

/** Checking both ends avoids an exception for plain text, which most answers are, and for cut-off JSON. */
function mayBeJson(text: string): boolean {
  let start = 0
  while (isSpace(text.charCodeAt(start))) start++
  const first = text.charCodeAt(start)
  let end = text.length - 1
  while (isSpace(text.charCodeAt(end))) end--
  const last = text.charCodeAt(end)
  if (first === QUOTE) return last === QUOTE
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return last === first + 2
  if (first === 45 || isDigit(first)) return isDigit(last)
  return (first === 116 || first === 102 || first === 110) && isJsonWord(text)
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13
}

function isJsonWord(text: string): boolean {
  const word = text.length > 32 ? '' : text.trim()
  return word === 'true' || word === 'false' || word === 'null'
}

/** Whether JSON text is nested too deeply or has too many values; each value except the first in its container follows a comma. */
function isTooRich(text: string, maxValues: number): boolean {
  let [depth, values] = [0, 0]
  /** For each level, how many more keys of its object are usual. */
  const usualKeys: number[] = []
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      index = endOfString(text, index)
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > MAX_DEPTH || ++values > maxValues) return true
      usualKeys[depth] = code === OPEN_BRACE ? USUAL_KEYS - 1 : Number.POSITIVE_INFINITY
    } else if (code === 125 || code === 93) {
      depth--
    } else if (code === COMMA) {
      const left = usualKeys[depth] ?? 0
      usualKeys[depth] = left - 1
      values += left > 0 ? 1 : VALUES_OF_UNUSUAL_KEY
      if (values > maxValues) return true
    }
  }
  return false
}

/** The index of the quote that ends the string starting at `start`; the text's length if there is none. */
function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  if (end === -1) return text.length
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end
  // Searching for one quote after the other would take long in a text that is full of them.
  for (let index = start + 1; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === BACKSLASH) index++
    else if (code === QUOTE) return index
  }
  return text.length
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return 'null'
  }
}

/** How often a JSON text has a string value, given with its quotes; `undefined` if it is no text. */
export function countIn(json: unknown, quoted: string): number | undefined {
  if (typeof json !== 'string') return undefined
  let count = 0
  for (let at = json.indexOf(quoted); at !== -1; at = json.indexOf(quoted, at + quoted.length)) count += 1
  return count
}

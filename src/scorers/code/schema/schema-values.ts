import { canonicalJson, isRecord } from '../../../spans/json.ts'

/** Whether a value has a type, or one of several. Schemas written for Python use `float`, `dict` and `tuple`. */
export function hasType(type: unknown, value: unknown): boolean {
  return Array.isArray(type) ? type.some((one) => isOfType(one, value)) : isOfType(type, value)
}

function isOfType(type: unknown, value: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
    case 'tuple':
      return Array.isArray(value)
    case 'object':
    case 'dict':
      return isRecord(value)
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value)
    case 'float':
      return typeof value === 'number'
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type
    default:
      return true
  }
}

/** There are seven types. */
const MAX_NAMED_TYPES = 7

/** `string or null` */
export function typeNames(type: unknown): string {
  return Array.isArray(type) ? type.slice(0, MAX_NAMED_TYPES).join(' or ') : String(type)
}

/** A value's JSON text with sorted keys; equal texts mean equal values. */
export function canonicalValue(value: unknown): string {
  return canonicalJson(value)
}

/** The texts of a list of allowed values, cached for each list. */
export function canonicalTexts(allowed: readonly unknown[]): ReadonlySet<string> {
  let texts = TEXTS.get(allowed)
  if (texts === undefined) {
    texts = new Set(allowed.map((value) => canonicalValue(value)))
    TEXTS.set(allowed, texts)
  }
  return texts
}

const TEXTS = new WeakMap<readonly unknown[], ReadonlySet<string>>()

/** The text of a schema's `const`, cached for each schema. */
export function canonicalConst(schema: Readonly<Record<string, unknown>>): string {
  let text = CONSTANTS.get(schema)
  if (text === undefined) {
    text = canonicalValue(schema.const)
    CONSTANTS.set(schema, text)
  }
  return text
}

const CONSTANTS = new WeakMap<Readonly<Record<string, unknown>>, string>()

/** The properties of a part of a schema, cached for each; none of any other value. */
export function entriesOf(part: unknown): readonly (readonly [string, unknown])[] {
  if (!isRecord(part)) return []
  let entries = ENTRIES.get(part)
  if (entries === undefined) {
    entries = Object.entries(part)
    ENTRIES.set(part, entries)
  }
  return entries
}

const ENTRIES = new WeakMap<Readonly<Record<string, unknown>>, readonly (readonly [string, unknown])[]>()

/** The length of an array; 0 for any other value. */
export function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

/** Quotients of decimals have rounding errors: .3 is a multiple of .1. */
export function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  const nearest = Math.round(quotient)
  if (nearest === 0) return value === 0
  return Math.abs(quotient - nearest) <= Math.max(1e-9, 4 * Number.EPSILON * Math.abs(quotient))
}

/** Whether a text has at least that many characters, as people and JSON Schema count them: an emoji is one. */
export function hasAtLeast(text: string, length: number): boolean {
  // Each character has one or two code units, so most lengths need no count.
  return text.length >= length && (text.length >= 2 * length || countCharacters(text) >= length)
}

/** Whether a text has at most that many characters. */
export function hasAtMost(text: string, length: number): boolean {
  return text.length <= length || (text.length <= 2 * length && countCharacters(text) <= length)
}

function countCharacters(text: string): number {
  let count = text.length
  for (let index = 1; index < text.length; index++) {
    if (isTrail(text.charCodeAt(index)) && isLead(text.charCodeAt(index - 1))) count--
  }
  return count
}

/** Whether a code unit is the first half of a character beyond U+FFFF. */
function isLead(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

/** Whether a code unit is the second half of a character beyond U+FFFF. */
function isTrail(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}

/** The strings of an array; none for any other value. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** The value if it is a number. */
export function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback
}

/** Characters of a key that messages show. Models and strangers may write any key. */
const LONGEST_KEY = 200

/** Joins `stops[2]` and `name` to `stops[2].name`. */
export function joinPath(path: string, key: string): string {
  return path === '' ? shownKey(key) : `${path}.${shownKey(key)}`
}

/** A key, cut if it is very long. */
export function shownKey(key: string): string {
  return key.length <= LONGEST_KEY ? key : `${key.slice(0, LONGEST_KEY).toWellFormed()}…`
}

/** One token of a JSON pointer in a URL. */
export function decodeToken(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}

/** How many names, types or characters of a reference are read in the time of one step. */
export const COMPARED_PER_STEP = 10

/** The additional steps that it takes to read a schema's types and its reference. */
export function costOf(schema: unknown): number {
  if (!isRecord(schema)) return 0
  const { type, $ref } = schema
  return (lengthOf(type) + (typeof $ref === 'string' ? $ref.length : 0)) / COMPARED_PER_STEP
}

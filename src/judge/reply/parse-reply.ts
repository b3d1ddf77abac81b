import { isTooLargeToParse } from '../../spans/json.ts'
import { LONGEST_REPLY } from '../transport/generate.ts'

/** A parsed reply: its value, or its problem, for a repair. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string }

/** How many brackets are tried as the start of JSON, and how many characters are scanned for all of them together. */
const MOST_STARTS = 50
const MOST_STEPS = 8 * LONGEST_REPLY

/**
 * Parses a reply, strictly at first, then leniently: ignoring code fences, thoughts and other text around the JSON, and trailing commas. It
 * never guesses: two different valid JSON values are an error.
 *
 * @param validate checks each candidate value
 */
export function parseReply<T>(text: string, validate: (value: unknown) => Parsed<T>): Parsed<T> {
  if (text.length > LONGEST_REPLY) return { ok: false, message: `the reply is longer than ${LONGEST_REPLY} characters` }
  const strict = parse(text, validate)
  if (strict.ok) return strict
  const found = [...new Set(candidates(text))].map((candidate) => parse(candidate, validate))
  const [only, ...others] = found.filter((candidate) => candidate.ok)
  if (others.length > 0)
    return { ok: false, message: `the reply holds ${others.length + 1} different JSON values; give one` }
  return only ?? found[0] ?? strict
}

/** The most values of a reply, far more than any reply needs. */
const MOST_VALUES = 20_000

/** Parses JSON, and ignores `__proto__` keys. */
function parse<T>(text: string, validate: (value: unknown) => Parsed<T>): Parsed<T> {
  if (isTooLargeToParse(text, MOST_VALUES)) {
    return { ok: false, message: `the reply has more than ${MOST_VALUES} values, or nests them too deeply` }
  }
  let value: unknown
  try {
    value = JSON.parse(text, (key, part: unknown) => (key === '__proto__' ? undefined : part))
  } catch {
    return { ok: false, message: 'the reply is not JSON' }
  }
  return validate(value)
}

/** The outermost JSON-like pieces of a text in order, without trailing commas. */
function candidates(text: string): string[] {
  const answer = text.replace(/^[\s\S]*<\/think(?:ing)?>/i, '')
  const pieces: string[] = []
  const bracket = /[{[]/g
  let steps = 0
  for (let starts = 0; starts < MOST_STARTS && steps < MOST_STEPS; starts++) {
    const start = bracket.exec(answer)?.index
    if (start === undefined) break
    const end = endOfValue(answer, start)
    steps += (end ?? answer.length) - start
    if (end === undefined) continue
    pieces.push(withoutTrailingCommas(answer.slice(start, end)))
    bracket.lastIndex = end
  }
  return pieces
}

/** The index after the bracket that closes the one at `start`; `undefined` if none does. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0
  let inString = false
  for (let index = start; index < text.length; index++) {
    const character = text[index]
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') depth++
    else if ((character === '}' || character === ']') && --depth === 0) return index + 1
  }
  return undefined
}

/** Removes commas before closing brackets in one pass. Strings are skipped, so that a comma inside one stays. */
function withoutTrailingCommas(json: string): string {
  let result = ''
  let from = 0
  let comma: number | undefined
  for (let index = 0, inString = false; index < json.length; index++) {
    const character = json[index] ?? ''
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
      continue
    }
    if (comma !== undefined && (character === '}' || character === ']')) {
      result += json.slice(from, comma)
      from = comma + 1
    }
    if (character === ',') comma = index
    else if (!/\s/.test(character)) comma = undefined
    inString = character === '"'
  }
  return result + json.slice(from)
}

/** The problem of a reply that is not an object. */
export function expectedObject(value: unknown): Parsed<never> {
  return { ok: false, message: `expected a JSON object, got ${Array.isArray(value) ? 'an array' : typeof value}` }
}

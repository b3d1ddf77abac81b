/** Maximum number of characters of a value. */
const MAX_CHARACTERS = 80

// oxlint-disable-next-line no-control-regex -- the pattern is about control characters
const SPACE_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g

/** Most values are names, and need no change. */
const PLAIN = /^[\w.:/-]{1,80}$/

/** A value as it is compared and shown: on one line, at most 80 characters. */
export function shortText(value: string | number): string {
  if (typeof value === 'string' && PLAIN.test(value)) return value
  const text = typeof value === 'number' ? String(value) : value.slice(0, MAX_CHARACTERS * 4)
  return text.replaceAll(SPACE_OR_CONTROL, ' ').trim().slice(0, MAX_CHARACTERS).toWellFormed().trim()
}

/** Ids, hexadecimal digits and numbers, which differ in texts that are otherwise the same. */
const NUMBERS = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[a-z_-]*\d)[\w-]*\d[\w-]*\b|\d+/gi

/** Replaces numbers and ids by `#`, so that texts of errors which differ in them alone are the same. */
export function withoutNumbers(text: string): string {
  return shortText(shortText(text).replaceAll(NUMBERS, '#'))
}

/** The range of a number between two powers of two, such as `4 to 7`; `0` below 1. */
export function doublingRange(value: number): string {
  if (!(value >= 1)) return 'under 1'
  const from = 2 ** Math.floor(Math.log2(value))
  return from === 1 ? '1' : `${from} to ${2 * from - 1}`
}

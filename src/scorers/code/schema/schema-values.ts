import { canonicalJson, isRecord } from '../../../spans/json.ts'

/** Whether a value has a type, or one of several. Schemas written for Python use `float`, `dict` and `tuple`. */
export function hasType(type: unknown, value: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => hasType(one, value))
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

/** `string or null` */
export function typeNames(type: unknown): string {
  return Array.isArray(type) ? type.join(' or ') : String(type)
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
  return text.length >= length && (text.length >= 2 * length || Array.from(text).length >= length)
}

/** Whether a text has at most that many characters. */
export function hasAtMost(text: string, length: number): boolean {
  return text.length <= length || (text.length <= 2 * length && Array.from(text).length <= length)
}

/** The strings of an array; none for any other value. */
export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** The value if it is a number. */
export function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback
}

/** Joins `stops[2]` and `name` to `stops[2].name`. */
export function joinPath(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

/** One token of a JSON pointer in a URL. */
export function decodeToken(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return token
  }
}

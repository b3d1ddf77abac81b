import { parseJson } from '../json.ts'
import type { SourceSpan } from '../source-span.ts'

/**
 * The parsed value of an attribute that several facts read. It is parsed once, unless the attribute changes. Callers must not modify it.
 */
export function jsonAttribute(span: SourceSpan, key: string): unknown {
  const text = span.attributes[key]
  if (typeof text !== 'string') return text
  let known = span.parsed
  while (known !== undefined && known.key !== key) known = known.next
  if (known?.text === text) return known.value
  const value = parseJson(text)
  if (known === undefined) span.parsed = { key, text, value, next: span.parsed }
  else Object.assign(known, { text, value })
  return value
}

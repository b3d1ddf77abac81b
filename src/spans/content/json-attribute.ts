import { parseJson } from '../json.ts'
import type { SourceSpan } from '../source-span.ts'

/**
 * The parsed value of an attribute that several facts read. It is parsed once, unless the attribute changes. Callers must not modify it.
 */
export function jsonAttribute(span: SourceSpan, key: string): unknown {
  const text = span.attributes[key]
  if (typeof text !== 'string') return text
  let ofSpan = parsed.get(span)
  if (ofSpan === undefined) parsed.set(span, (ofSpan = new Map()))
  const known = ofSpan.get(key)
  if (known?.text === text) return known.value
  const value = parseJson(text)
  ofSpan.set(key, { text, value })
  return value
}

const parsed = new WeakMap<SourceSpan, Map<string, { readonly text: string; readonly value: unknown }>>()

import { isContentAttribute } from '../../spans/content/content-attributes.ts'
import { isTooLargeToParse } from '../../spans/json.ts'
import type { SourceSpan } from '../../spans/source-span.ts'

/** Results for spans that were read ahead, because searching megabytes takes long. */
const readAhead = new WeakMap<SourceSpan, boolean>()

/** Whether a content attribute of a span is too large to parse. */
export function holdsUnparsed(span: SourceSpan): boolean {
  return readAhead.get(span) ?? looksUnparsed(span)
}

/** Checks a span of a large run in advance, so that `holdsUnparsed` is fast later. The span must have ended. */
export function readHoldsUnparsed(span: SourceSpan): void {
  readAhead.set(span, looksUnparsed(span))
}

function looksUnparsed(span: SourceSpan): boolean {
  for (const key in span.attributes) {
    const value = span.attributes[key]
    if (typeof value === 'string' && isTooLargeToParse(value) && isContentAttribute(key)) return true
  }
  return false
}

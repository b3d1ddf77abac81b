import { isContentAttribute } from '../../spans/content/content-attributes.ts'
import { isTooLargeToParse } from '../../spans/json.ts'
import type { SourceSpan } from '../../spans/source-span.ts'

/** What is known of spans that were read ahead: to look through megabytes takes long. */
const readAhead = new WeakMap<SourceSpan, boolean>()

/** Whether a content attribute of a span is too large to be parsed. */
export function holdsUnparsed(span: SourceSpan): boolean {
  return readAhead.get(span) ?? looksUnparsed(span)
}

/** Looks at a span of a large run now, so that `holdsUnparsed` has the answer when the run is put together. The span must have ended. */
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

import { isContentAttribute } from '../../spans/content/content-attributes.ts'
import type { ContentFact } from '../../spans/dialect.ts'
import { isHalfJson } from '../../spans/json.ts'
import { isRedactionMark } from '../../spans/redaction-mark.ts'
import type { SourceSpan } from '../../spans/source-span.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import type { TraceSpan } from '../trace-span.ts'

/** Longer lists are not searched: an array may be longer than what it holds. */
const MAX_ITEMS = 10_000

/** Whether a value from which a fact is read was cut. */
export function isCut(fact: ContentFact, span: TraceSpan): boolean {
  return holdsCut(span.span) && span.valuesOf(fact).some(isHalf)
}

/** Whether any content of the span was cut. */
export function holdsCut({ attributes }: SourceSpan): boolean {
  for (const key in attributes) if (isHalf(attributes[key]) && isContentAttribute(key)) return true
  return false
}

/** Whether a processor or collector replaced content of the span. */
export function hasMark({ attributes }: SourceSpan): boolean {
  for (const key in attributes) if (isRedactionMark(attributes[key]) && isContentAttribute(key)) return true
  return false
}

/** Whether a value starts like JSON but does not end like it: the SDK's length limit cut it. */
function isHalf(value: unknown): boolean {
  if (typeof value === 'string') return isHalfJson(value)
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return false
  return value.some((item) => typeof item === 'string' && isHalfJson(item))
}

/** No length limit is below this. Shorter texts need no look at the other attributes. */
const SHORTEST_LIMIT = 100

/**
 * A text of a run, or `undefined` if a length limit of the SDK or of a backend cut it off. Plain text does not show that, but a JSON text of
 * the same run that was cut off at the same length does.
 */
export function wholeText(text: string | undefined, plan: RunPlan): string | undefined {
  return text !== undefined && text.length >= SHORTEST_LIMIT && isLimit(text.length, plan) ? undefined : text
}

function isLimit(length: number, { root, models, tools, inside }: RunPlan): boolean {
  const hasCut = (span: TraceSpan): boolean => hasHalfJson(span, length) || span.inner.some(hasCut)
  return hasCut(root) || models.some(hasCut) || tools.some(hasCut) || inside.some(hasCut)
}

function hasHalfJson({ span: { attributes } }: TraceSpan, length: number): boolean {
  for (const key in attributes) {
    const value = attributes[key]
    if (typeof value === 'string' && value.length === length && isHalfJson(value)) return true
  }
  return false
}

import { isHalfJson } from '../../spans/json.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import type { TraceSpan } from '../trace-span.ts'

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

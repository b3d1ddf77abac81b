import type { Absence, ContentFact } from '../../spans/dialect.ts'
import { hasMark, holdsCut, isCut } from './cut-content.ts'
import type { Spans } from './evidence.ts'
import { holdsUnparsed } from './unparsed.ts'

/** Why an optional fact is missing; `undefined` if the run had none. If a value that may hold it was cut off, it counts as missing. */
export function whyOptionalAbsent(fact: ContentFact, spans: Spans): Absence | undefined {
  return spans.some((span) => isCut(fact, span)) ? TRUNCATED : spans[0].optionalAbsence(fact)
}

/** A length limit of the SDK cut the value off. */
export const TRUNCATED: Absence = {
  why: 'truncated',
  switch: 'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT (or attributeValueLengthLimit)',
}

/** Why none of the spans holds a fact. The first one's library is asked first. */
export function whyAbsent(fact: ContentFact, ...nodes: Spans): Absence {
  for (const { span } of nodes) {
    if (holdsUnparsed(span)) return { why: 'limit' }
    if (holdsCut(span)) return TRUNCATED
    if (span.droppedAttributesCount > 0) {
      return { why: 'limit', switch: 'OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT (or attributeCountLimit)' }
    }
  }
  const own = nodes[0].absence(fact)
  if (nodes.some((each) => each.optionalAbsence(fact)?.why === 'stored-elsewhere')) return { why: 'stored-elsewhere' }
  if (own.why !== 'redacted' && nodes.some(({ span }) => hasMark(span))) return { why: 'redacted' }
  // If the application writes the agent span itself, the instrumentation of its models may know the setting.
  if (own.switch !== undefined) return own
  return nodes.map((each) => each.optionalAbsence(fact)).find((absence) => absence?.switch !== undefined) ?? own
}

import { hash } from 'node:crypto'

/** Identifies a score, however often and wherever it is computed. */
export interface ScoreIds {
  /** Equal for all revisions of a score: 32 hex digits of trace, agent span, scorer and its version. */
  readonly key: string
  /** Equal for the same spans of the run: 32 hex digits of the key and the digest of the span ids. */
  readonly id: string
  /** The id of the score's late span: 16 hex digits. */
  readonly spanId: string
}

/**
 * The ids of a score. Computing it again from the same spans, after a crash or elsewhere, gives the same ids.
 *
 * @param spanIds sorted ids of the run's recognised spans
 */
export function scoreIds(
  run: { readonly traceId: string; readonly spanId: string },
  scorer: { readonly id: string; readonly version: string },
  spanIds: readonly string[],
): ScoreIds {
  const key = digest(`${run.traceId}\n${run.spanId}\n${scorer.id}\n${scorer.version}`)
  const id = digest(`${key}\n${digestOf(spanIds)}`)
  return { key, id, spanId: nonZero(id.slice(0, 16)) }
}

/** Thousands of runs of a trace may have the same list of spans. */
const digests = new WeakMap<readonly string[], string>()

function digestOf(spanIds: readonly string[]): string {
  const known = digests.get(spanIds) ?? digest(spanIds.join('\n'))
  digests.set(spanIds, known)
  return known
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 32)
}

/** A span id of all zeros is invalid. */
function nonZero(spanId: string): string {
  return /[^0]/.test(spanId) ? spanId : '0000000000000001'
}

import { hash } from 'node:crypto'

/** What identifies a score, however often it is computed, and wherever. */
export interface ScoreIds {
  /** The same for every revision of a score: 32 hex digits of trace, agent span, scorer and its version. */
  readonly key: string
  /** The same for the same spans of the run: 32 hex digits of the key and the ids of the run's spans. */
  readonly id: string
  /** Id of the late span that carries the score: 16 hex digits. */
  readonly spanId: string
}

/**
 * Ids of a score. A score that is computed again from the same spans, after a crash or elsewhere, has the same ids.
 *
 * @param spanIds Ids of the run's recognised spans, sorted.
 */
export function scoreIds(
  run: { readonly traceId: string; readonly spanId: string },
  scorer: { readonly id: string; readonly version: string },
  spanIds: readonly string[],
): ScoreIds {
  const key = digest(`${run.traceId}\n${run.spanId}\n${scorer.id}\n${scorer.version}`)
  const id = digest(`${key}\n${spanIds.join('\n')}`)
  return { key, id, spanId: nonZero(id.slice(0, 16)) }
}

function digest(text: string): string {
  return hash('sha256', text).slice(0, 32)
}

/** A span id of zeros only is not valid. */
function nonZero(spanId: string): string {
  return /[^0]/.test(spanId) ? spanId : '0000000000000001'
}

import { createHash } from 'node:crypto'

/** What identifies a score, whoever computes it and however often. */
export interface ScoreIds {
  /** The same for every revision of a score: 32 hex digits of trace, agent span, scorer and its version. */
  readonly key: string
  /** The same for the same spans of the run: 32 hex digits of the key and the ids of the run's spans. */
  readonly id: string
  /** Id of the late span that carries the score: 16 hex digits. */
  readonly spanId: string
}

/** Ids of a score. A score that is computed again from the same spans, after a crash or elsewhere, has the same ids. */
export function scoreIds(
  run: { readonly traceId: string; readonly spanId: string },
  scorer: { readonly id: string; readonly version: string },
  spanIds: readonly string[],
): ScoreIds {
  const key = hash([run.traceId, run.spanId, scorer.id, scorer.version])
  const id = hash([key, ...spanIds.toSorted()])
  return { key, id, spanId: nonZero(hash([id, 'late-span']).slice(0, 16)) }
}

function hash(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 32)
}

/** A span id of zeros only is not valid. */
function nonZero(spanId: string): string {
  return /[^0]/.test(spanId) ? spanId : '0000000000000001'
}

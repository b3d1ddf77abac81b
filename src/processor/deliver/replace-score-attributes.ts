import type { ScoreAttributes } from '../../emit/score-attributes.ts'

/** The attributes of one scorer, after `spanscore.<id>.` */
const PARTS = ['score', 'label', 'explanation', 'status', 'status_reason', 'status_message'] as const

/**
 * Puts scores over earlier ones. Of a scorer that had no score and now has one, or the other way round, nothing of the first is
 * left: a span that says both is read as either.
 */
export function replaceScoreAttributes(target: Record<string, unknown>, scores: ScoreAttributes): void {
  for (const name in scores) {
    const scorer = /^(spanscore\.[a-z0-9_]+)\.(?:score|status)$/.exec(name)?.[1]
    if (scorer === undefined) continue
    for (const part of PARTS) {
      const stale = `${scorer}.${part}`
      if (stale in target) delete target[stale]
    }
  }
  Object.assign(target, scores)
}

import type { ScoreAttributes } from '../../emit/score-attributes.ts'

/** The attributes of one scorer, after `spanscore.<id>.` */
const PARTS = ['score', 'label', 'explanation', 'status', 'status_reason', 'status_message'] as const

/**
 * Replaces earlier scores by new ones. If a scorer now has a score and had none before, or the other way round, all of its earlier
 * attributes are removed, because a span with both would be ambiguous.
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

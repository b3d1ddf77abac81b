import type { ScoreAttributes } from '../../attributes/attribute-table.ts'
import { removeScore, scorersIn } from '../../attributes/score-attributes.ts'

/**
 * Replaces earlier scores by new ones. All earlier attributes of their scorers are removed, because a span with both a score and a
 * status would be ambiguous.
 */
export function replaceScoreAttributes(target: Record<string, unknown>, scores: ScoreAttributes): void {
  for (const scorerId of scorersIn(scores)) removeScore(target, scorerId)
  Object.assign(target, scores)
}

import type { Evaluation, SkipReason } from '../scoring/score.ts'

/** A span or log attribute, as every SDK line takes it. */
export type AttributeValue = string | number | boolean

/** Attributes by name. */
export type ScoreAttributes = Record<string, AttributeValue>

/** Which explanations leave the process: those of all scorers, of code scorers only, or none. */
export type ExplanationPolicy = 'all' | 'code' | 'none'

/** Characters of an explanation that are kept. */
export const MAX_EXPLANATION_LENGTH = 1024

/** Runs that were left out on purpose: they are counted, and nothing is written on their spans. */
const SILENT: ReadonlySet<SkipReason> = new Set(['sampled-out', 'filtered', 'over-budget', 'already-scored'])

/** Whether an evaluation is only counted: its run was left out on purpose, or has its score already. */
export function isSilent({ score }: Evaluation): boolean {
  return score.status === 'skipped' && SILENT.has(score.reason)
}

/** The `spanscore.<id>.*` attributes that an evaluation leaves on the agent's span, or on the late span; empty where it is silent. */
export function scoreAttributes(evaluation: Evaluation, explanations: ExplanationPolicy): ScoreAttributes {
  if (isSilent(evaluation)) return {}
  const { score, scorer, complete, revision } = evaluation
  const prefix = `spanscore.${scorer.id}`
  const attributes: ScoreAttributes = {}
  if (score.status === 'scored') {
    attributes[`${prefix}.score`] = score.value
    attributes[`${prefix}.label`] = score.label
    const explanation = explanationOf(evaluation, explanations)
    if (explanation !== undefined) attributes[`${prefix}.explanation`] = explanation
  } else {
    attributes[`${prefix}.status`] = score.status
    attributes[`${prefix}.status_reason`] = score.status === 'skipped' ? score.reason : score.code
  }
  attributes['spanscore.complete'] = complete
  attributes['spanscore.revision'] = revision
  return attributes
}

/** The explanation as it may leave the process, cut to its length limit; `undefined` where there is none, or it may not. */
export function explanationOf({ score, scorer }: Evaluation, explanations: ExplanationPolicy): string | undefined {
  if (score.status !== 'scored' || score.explanation === undefined) return undefined
  if (explanations === 'none' || (explanations === 'code' && scorer.kind === 'judge')) return undefined
  // Not through the middle of a surrogate pair: half a character is not valid UTF-8 on the wire.
  return score.explanation.length <= MAX_EXPLANATION_LENGTH
    ? score.explanation
    : score.explanation.slice(0, MAX_EXPLANATION_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
}

import type { Label } from '../../../src/cases/labels.ts'

/** How far people agree with one another. */
export interface LabellerAgreement {
  /** Scores that more than one person labelled. */
  readonly scores: number
  /** The share of pairs of labels of one score that agree, 0 to 1. */
  readonly agreed: number
  /**
   * Krippendorff's α for two values: 1 if all agree, 0 if they agree as often as by chance. `undefined` if all of these labels
   * are the same, because α is not defined then.
   */
  readonly alpha: number | undefined
  readonly labellers: readonly string[]
}

/** Whether people pass a score, by majority: 1 or 0, and a half if they are evenly divided. */
export function truthOf(labels: readonly Pick<Label, 'label'>[]): 0 | 0.5 | 1 {
  const passes = labels.filter(({ label }) => label === 'pass').length
  const fails = labels.length - passes
  return passes === fails ? 0.5 : passes > fails ? 1 : 0
}

/**
 * Computes the agreement of people who labelled the same scores (Krippendorff, "Content Analysis", nominal α). There may be any
 * number of people, and each may have labelled any of the scores.
 *
 * @param byScore The labels of each score.
 * @returns `undefined` if no score has two labels.
 */
export function labellerAgreement(byScore: Iterable<readonly Label[]>): LabellerAgreement | undefined {
  const labellers = new Set<string>()
  let [scores, pairs, agreedPairs] = [0, 0, 0]
  // α weights the pairs of a score by 1/(its labels − 1), so that each label counts once.
  let [values, passes, observed] = [0, 0, 0]
  for (const labels of byScore) {
    const count = labels.length
    if (count < 2) continue
    scores++
    for (const { labeller } of labels) labellers.add(labeller)
    const passed = labels.filter(({ label }) => label === 'pass').length
    const mixedPairs = passed * (count - passed)
    pairs += (count * (count - 1)) / 2
    agreedPairs += (count * (count - 1)) / 2 - mixedPairs
    values += count
    passes += passed
    observed += (2 * mixedPairs) / (count - 1)
  }
  if (scores === 0) return undefined
  const expected = (2 * passes * (values - passes)) / (values - 1)
  const alpha = expected === 0 ? undefined : 1 - observed / expected
  return { scores, agreed: agreedPairs / pairs, alpha, labellers: [...labellers].toSorted() }
}

/**
 * What is known of one text: its features, whether it is a control, the score for which it is shown, and the group of texts that are either
 * learnt from or measured.
 */
export interface Row {
  readonly values: readonly number[]
  readonly isControl: boolean
  readonly score: string
  readonly group: string
}

interface Stump {
  readonly feature: number
  readonly threshold: number
  readonly above: number
  readonly below: number
}

const ROUNDS = 60
const THRESHOLDS = 12
const RATE = 0.3
/** Keeps a leaf of few rows from counting much. */
const PRIOR = 10

/**
 * Weights of the rows, 1 on average. In every score, the controls weigh as much as the other texts: that a short list has more decoys than
 * other texts does not help to tell which they are. Scores that show only one sort of texts have no weight.
 */
function weightsOf(rows: readonly Row[]): readonly number[] {
  const counts = new Map<string, { controls: number; others: number }>()
  for (const { score, isControl } of rows) {
    const count = counts.get(score) ?? { controls: 0, others: 0 }
    count[isControl ? 'controls' : 'others']++
    counts.set(score, count)
  }
  const weights = rows.map(({ score, isControl }) => {
    const { controls, others } = counts.get(score)!
    return controls === 0 || others === 0 ? 0 : 1 / (isControl ? controls : others)
  })
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => (weight * rows.length) / sum)
}

/** Gradient-boosted stumps with the logistic loss, in which controls weigh as much as the rest. Positive scores mean a control. */
function learn(rows: readonly Row[]): { score: (values: readonly number[]) => number; gain: readonly number[] } {
  const weights = weightsOf(rows)
  const width = rows[0]?.values.length ?? 0
  const thresholds = Array.from({ length: width }, (_, feature) => {
    const sorted = rows.map(({ values }) => values[feature]!).toSorted((one, other) => one - other)
    const steps = Array.from(
      { length: THRESHOLDS },
      (__, step) => sorted[Math.floor(((step + 1) * sorted.length) / (THRESHOLDS + 1))]!,
    )
    return [...new Set(steps)]
  })
  // The number of thresholds that a value exceeds.
  const bins = thresholds.map((list, feature) =>
    rows.map(({ values }) => list.filter((threshold) => values[feature]! > threshold).length),
  )
  const scores = rows.map(() => 0)
  const gain = Array.from({ length: width }, () => 0)
  const stumps: Stump[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const expected = scores.map((score) => 1 / (1 + Math.exp(-score)))
    const slopes = rows.map(({ isControl }, row) => weights[row]! * ((isControl ? 1 : 0) - expected[row]!))
    const bends = expected.map((p, row) => weights[row]! * p * (1 - p))
    let best: (Stump & { readonly gain: number; readonly bin: number }) | undefined
    for (const [feature, list] of thresholds.entries()) {
      const slope = Array.from({ length: list.length + 1 }, () => 0)
      const bend = [...slope]
      for (const [row, bin] of bins[feature]!.entries()) {
        slope[bin]! += slopes[row]!
        bend[bin]! += bends[row]!
      }
      const [allSlope, allBend] = [slope, bend].map((sums) => sums.reduce((sum, one) => sum + one, 0)) as [
        number,
        number,
      ]
      let [belowSlope, belowBend] = [0, 0]
      for (const [bin, threshold] of list.entries()) {
        belowSlope += slope[bin]!
        belowBend += bend[bin]!
        const [below, above] = [
          belowSlope / (belowBend + PRIOR),
          (allSlope - belowSlope) / (allBend - belowBend + PRIOR),
        ]
        const won = belowSlope * below + (allSlope - belowSlope) * above
        if (best === undefined || won > best.gain) best = { feature, threshold, bin, above, below, gain: won }
      }
    }
    if (best === undefined) break
    const { feature, bin, above, below } = best
    gain[feature]! += best.gain
    stumps.push(best)
    for (const [row, own] of bins[feature]!.entries()) scores[row]! += RATE * (own > bin ? above : below)
  }
  return {
    gain,
    score: (values) =>
      stumps.reduce(
        (sum, { feature, threshold, above, below }) => sum + (values[feature]! > threshold ? above : below),
        0,
      ),
  }
}

/**
 * How much better than chance classifiers find the controls in groups that they did not learn from. 0 is chance, 0.5 is certainty.
 *
 * @param isMeasured in which groups; they learn from the others too
 */
export function advantage(
  rows: readonly Row[],
  isMeasured: (group: string) => boolean = () => true,
  folds = 5,
): { points: number; error: number; gain: readonly number[] } {
  const groups = [...new Set(rows.map(({ group }) => group))]
  const foldOf = new Map(groups.map((group, index) => [group, index % folds]))
  const gain: number[] = []
  const weights = weightsOf(rows)
  const found = new Map(groups.map((group) => [group, { hits: 0, controls: 0, passed: 0, others: 0 }]))
  for (let fold = 0; fold < folds; fold++) {
    const learnt = learn(rows.filter(({ group }) => foldOf.get(group) !== fold))
    for (const [feature, won] of learnt.gain.entries()) gain[feature] = (gain[feature] ?? 0) + won
    for (const [index, { values, isControl, group }] of rows.entries()) {
      if (foldOf.get(group) !== fold || !isMeasured(group)) continue
      const counts = found.get(group)!
      const isFound = learnt.score(values) > 0
      const weight = weights[index]!
      if (isControl) {
        counts.controls += weight
        if (isFound) counts.hits += weight
      } else {
        counts.others += weight
        if (!isFound) counts.passed += weight
      }
    }
  }
  const sum = (pick: (of: { hits: number; controls: number; passed: number; others: number }) => number): number =>
    [...found.values()].reduce((total, counts) => total + pick(counts), 0)
  const [controls, others] = [sum((of) => of.controls), sum((of) => of.others)]
  const [hits, passed] = [sum((of) => of.hits) / controls, sum((of) => of.passed) / others]
  // The texts of a group resemble each other, so the error is that of a mean of groups.
  const squares = sum((of) => {
    const deviation = (of.hits - hits * of.controls) / controls + (of.passed - passed * of.others) / others
    return deviation * deviation
  })
  return { points: (hits + passed) / 2 - 0.5, error: Math.sqrt(squares) / 2, gain }
}

/** A labelled run. */
export interface LabelledScore {
  /** 1/(probability with which the run was scored × probability with which it was drawn), in any unit. */
  readonly weight: number
  /** What people say: 1 if they pass the run, 0 if they fail it, and between if they are divided. */
  readonly truth: number
  /** The judge's score: its position in its range, 0 to 1, higher is better. */
  readonly score: number
}

/** Sums over judged runs that nobody has labelled. */
export interface UnlabelledSums {
  readonly w: number
  readonly w2: number
  /** Σ w · score, and Σ w · score². */
  readonly wf: number
  readonly wf2: number
}

/** The runs to which the judge gave one verdict. */
export interface PpiGroup {
  /** Their share of all judged runs, by weight, 0 to 1. */
  readonly share: number
  readonly labelled: readonly LabelledScore[]
  readonly unlabelled: UnlabelledSums
}

/** The share of runs that people would pass, had they labelled all judged runs. */
export interface PpiMean {
  readonly mean: number
  readonly interval95: readonly [number, number]
  /** How far the estimate relies on the judge's scores: 0 not at all, 1 in full. */
  readonly lambda: number
}

interface Moments {
  readonly n: number
  readonly truth: number
  readonly score: number
  readonly truthVariance: number
  readonly scoreVariance: number
  readonly covariance: number
}

/**
 * Estimates the share of all judged runs that people would pass, from labels of some and the judge's scores of all: PPI++
 * (Angelopoulos, Duchi, Zrnic, arXiv 2311.01453). It is computed in each group of runs with one verdict, because labels are drawn by
 * verdict. One λ, which minimises the variance within 0 to 1, is used for all groups. The result holds for the runs from which
 * the labels were drawn. If traffic has shifted since, use `correctedShare`.
 *
 * For the variance, two passes and two fails with the group's mean score are added to each group (Agresti and Coull 1998).
 *
 * @param runs The effective number (Kish) of judged runs from which the shares were estimated.
 */
export function ppiMean(groups: readonly PpiGroup[], runs: number): PpiMean {
  const parts = groups
    .filter(({ share, labelled }) => share > 0 && labelled.length > 0)
    .map(({ share, labelled, unlabelled }) => ({ share, of: moments(labelled), rest: restOf(unlabelled) }))
  let covariance = 0
  let scoreVariance = 0
  for (const { share, of, rest } of parts) {
    if (rest === undefined) continue
    covariance += (share ** 2 * of.covariance) / of.n
    scoreVariance += share ** 2 * (of.scoreVariance / of.n + rest.variance / rest.n)
  }
  const lambda = scoreVariance > 0 ? Math.min(1, Math.max(0, covariance / scoreVariance)) : 0
  let mean = 0
  let variance = 0
  const means = parts.map(({ share, of, rest }) => {
    // If all runs of a group are labelled, the judge's scores add nothing.
    const used = rest === undefined ? 0 : lambda
    const groupMean = of.truth + used * ((rest?.mean ?? 0) - of.score)
    mean += share * groupMean
    const residual = of.truthVariance - 2 * used * of.covariance + used ** 2 * of.scoreVariance
    const borrowed = rest === undefined ? 0 : (used ** 2 * rest.variance) / rest.n
    variance += share ** 2 * (residual / of.n + borrowed)
    return { share, groupMean }
  })
  for (const { share, groupMean } of means) variance += (share * (groupMean - mean) ** 2) / Math.max(1, runs)
  const half = 1.96 * Math.sqrt(variance)
  return { mean: clamp(mean), interval95: [clamp(mean - half), clamp(mean + half)], lambda }
}

function moments(labelled: readonly LabelledScore[]): Moments {
  let [w, w2, wy, wf] = [0, 0, 0, 0]
  for (const { weight, truth, score } of labelled) {
    w += weight
    w2 += weight ** 2
    wy += weight * truth
    wf += weight * score
  }
  const n = w ** 2 / w2
  const [truth, score] = [wy / w, wf / w]
  let [yy, ff, yf] = [0, 0, 0]
  for (const one of labelled) {
    yy += one.weight * (one.truth - truth) ** 2
    ff += one.weight * (one.score - score) ** 2
    yf += one.weight * (one.truth - truth) * (one.score - score)
  }
  const scale = n / w / (n + 4)
  const added = (2 * truth ** 2 + 2 * (1 - truth) ** 2) / (n + 4)
  return { n, truth, score, truthVariance: yy * scale + added, scoreVariance: ff * scale, covariance: yf * scale }
}

function restOf({ w, w2, wf, wf2 }: UnlabelledSums): { n: number; mean: number; variance: number } | undefined {
  if (!(w > 0)) return undefined
  const mean = wf / w
  return { n: w ** 2 / w2, mean, variance: Math.max(0, wf2 / w - mean ** 2) }
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}

/** Sums over some runs: Σw, Σw² and Σw of those that fail, with the numbers of runs. */
export interface Sums {
  runs: number
  failing: number
  weight: number
  weightSquared: number
  failingWeight: number
}

/** The share of failing runs, weighted; NaN without runs. */
export function rateOf({ weight, failingWeight }: Sums): number {
  return failingWeight / weight
}

/** The runs that are in `all` and not in `part`. */
export function rest(all: Sums, part: Sums): Sums {
  return {
    runs: all.runs - part.runs,
    failing: all.failing - part.failing,
    weight: Math.max(0, all.weight - part.weight),
    weightSquared: Math.max(0, all.weightSquared - part.weightSquared),
    failingWeight: Math.max(0, all.failingWeight - part.failingWeight),
  }
}

/**
 * How surely the failing shares of two groups of runs differ: G, half the statistic of the likelihood-ratio test of a 2×2 table, in nats. If
 * they are equal, the evidence exceeds g at most about once in e^g times.
 *
 * With weights, each group counts as its effective number of runs, (Σw)²/Σw² (Kish), times `design`: see `designOf`.
 */
export function traitEvidence(one: Sums, other: Sums, design: number): number {
  if (one.runs === 0 || other.runs === 0) return 0
  const [n, m] = [effectiveRuns(one) * design, effectiveRuns(other) * design]
  const [p, q] = [rateOf(one), rateOf(other)]
  const pooled = (n * p + m * q) / (n + m)
  return n * divergence(p, pooled) + m * divergence(q, pooled)
}

/**
 * By how much the failing share of weighted runs is less certain than Kish's number says, because those that count for many fail more
 * often: p(1-p)·Σw² divided by Σw²(y-p)², at most 1. It is 1 if all weights are equal.
 */
export function designOf(all: Sums, failingWeightSquared: number): number {
  const p = rateOf(all)
  const spread = failingWeightSquared * (1 - p) ** 2 + (all.weightSquared - failingWeightSquared) * p ** 2
  return spread > 0 ? Math.min(1, (p * (1 - p) * all.weightSquared) / spread) : 1
}

function effectiveRuns({ weight, weightSquared }: Sums): number {
  return weightSquared > 0 ? weight ** 2 / weightSquared : 0
}

/** The Kullback–Leibler divergence of two shares, in nats. */
function divergence(p: number, q: number): number {
  return term(p, q) + term(1 - p, 1 - q)
}

function term(p: number, q: number): number {
  return p > 0 ? p * Math.log(p / q) : 0
}

/** What people say of the runs to which the judge gave one verdict. */
export interface VerdictGroup {
  /** The share of all judged runs with this verdict, by weight, 0 to 1. */
  readonly share: number
  /** The share of its labelled runs that people pass, by weight, 0 to 1. */
  readonly passed: number
  /** How many equally weighted labels would give the same precision: (Σω)²/Σω² (Kish 1965). */
  readonly n: number
}

/** Shares of all judged runs that add up to 1. The letters p and n are what people say, t and f whether the judge agrees. */
export interface Confusion {
  /** People and the judge pass the run. */
  readonly tp: number
  /** People pass the run, and the judge fails it. */
  readonly fn: number
  /** People and the judge fail the run. */
  readonly tn: number
  /** People fail the run, and the judge passes it. */
  readonly fp: number
}

/** The estimated error rates of a judge. */
export interface Rates {
  readonly confusion: Confusion
  /** The share of the runs that people pass which the judge passes, too. */
  readonly sensitivity: number
  /** The share of the runs that people fail which the judge fails, too. */
  readonly specificity: number
  readonly sensitivityVariance: number
  readonly specificityVariance: number
  readonly covariance: number
  readonly sensitivity95: readonly [number, number]
  readonly specificity95: readonly [number, number]
  /** Cohen's κ: agreement beyond chance, 0 if there is none. */
  readonly kappa: number
}

/**
 * Estimates sensitivity and specificity from labels that were drawn by the judge's verdict. Three independent estimates determine
 * them: the share that the judge passes, and for each verdict the share that people pass. Variances and covariance follow by the
 * delta method. For the variance, two passes and two fails are added to the labels of each verdict (Agresti and Coull 1998), because
 * it would be 0 if all labels agree.
 *
 * @param runs The effective number (Kish) of judged runs from which `share` was estimated.
 */
export function ratesOf(pass: VerdictGroup, fail: VerdictGroup, runs: number): Rates {
  const share = pass.share
  const point = at(share, pass.passed, fail.passed)
  const { tp, fn, tn, fp, good, bad } = point
  const ofShare = (share * (1 - share)) / Math.max(1, runs)
  const ofPass = smoothedVariance(pass)
  const ofFail = smoothedVariance(fail)
  // Derivatives by the share that the judge passes, and by the shares that people pass of each verdict.
  const a = pass.passed
  const b = fail.passed
  const bySensitivity = [(a * b) / good ** 2, (share * fn) / good ** 2, (-(1 - share) * tp) / good ** 2] as const
  const bySpecificity = [
    (-(1 - a) * (1 - b)) / bad ** 2,
    (share * tn) / bad ** 2,
    (-(1 - share) * fp) / bad ** 2,
  ] as const
  const product = (left: Derivatives, right: Derivatives): number =>
    left[0] * right[0] * ofShare + left[1] * right[1] * ofPass + left[2] * right[2] * ofFail
  const sensitivity = tp / good
  const specificity = tn / bad
  const sensitivityVariance = product(bySensitivity, bySensitivity)
  const specificityVariance = product(bySpecificity, bySpecificity)
  const smoothed = at(share, smoothedShare(pass), smoothedShare(fail))
  const byChance = share * good + (1 - share) * bad
  return {
    confusion: { tp, fn, tn, fp },
    sensitivity,
    specificity,
    sensitivityVariance,
    specificityVariance,
    covariance: product(bySensitivity, bySpecificity),
    sensitivity95: wilson(sensitivity, effective(smoothed.tp / smoothed.good, sensitivityVariance)),
    specificity95: wilson(specificity, effective(smoothed.tn / smoothed.bad, specificityVariance)),
    kappa: byChance === 1 ? 0 : (tp + tn - byChance) / (1 - byChance),
  }
}

type Derivatives = readonly [number, number, number]

function at(share: number, a: number, b: number): Confusion & { readonly good: number; readonly bad: number } {
  const [tp, fp, fn, tn] = [share * a, share * (1 - a), (1 - share) * b, (1 - share) * (1 - b)]
  return { tp, fp, fn, tn, good: tp + fn, bad: fp + tn }
}

/** The share that people pass, after two passes and two fails were added. */
function smoothedShare({ passed, n }: VerdictGroup): number {
  return (passed * n + 2) / (n + 4)
}

function smoothedVariance(group: VerdictGroup): number {
  const share = smoothedShare(group)
  return (share * (1 - share)) / (group.n + 4)
}

/** The number of runs for which a share would have this variance. */
function effective(share: number, variance: number): number {
  return variance > 0 ? Math.max(1, (share * (1 - share)) / variance) : Number.POSITIVE_INFINITY
}

/** Wilson's interval for a share of `n` runs, `z` standard errors wide on each side. */
export function wilson(share: number, n: number, z = 1.96): readonly [number, number] {
  const middle = share + z ** 2 / 2 / n
  const half = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / 4 / n ** 2)
  const scale = 1 + z ** 2 / n
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)]
}

/** What people say of the runs to which the judge gave one verdict. */
export interface VerdictGroup {
  /** Which part of all judged runs got the verdict, by weight, 0 to 1. */
  readonly share: number
  /** Which part of its labelled runs people pass, by weight, 0 to 1. */
  readonly passed: number
  /** How many equally weighted labels would give the same precision: (Σω)²/Σω² (Kish 1965). */
  readonly n: number
}

/** Shares of all judged runs, 1 together: what people say (p, n) and whether the judge agrees (t, f). */
export interface Confusion {
  /** People pass, and the judge does. */
  readonly tp: number
  /** People pass, and the judge does not. */
  readonly fn: number
  /** People do not pass, and neither does the judge. */
  readonly tn: number
  /** People do not pass, and the judge does. */
  readonly fp: number
}

/** How a judge errs, as far as the labels say. */
export interface Rates {
  readonly confusion: Confusion
  /** Which part of the runs that people pass the judge passes. */
  readonly sensitivity: number
  /** Which part of the runs that people fail the judge fails. */
  readonly specificity: number
  readonly sensitivityVariance: number
  readonly specificityVariance: number
  readonly covariance: number
  readonly sensitivity95: readonly [number, number]
  readonly specificity95: readonly [number, number]
  /** Cohen's κ: agreement beyond chance; 0 where there is none. */
  readonly kappa: number
}

/**
 * Sensitivity and specificity from labels that were drawn by the judge's verdict. They follow from three estimates that are
 * independent of one another (the share that the judge passes, and of the runs with each verdict the share that people pass),
 * so their variances and covariance are the delta method's. For the variance two passes and two fails are added to the labels of
 * each verdict (Agresti and Coull 1998): where all labels agree, the naive variance would be 0.
 *
 * @param runs How many judged runs `share` comes from, by Kish.
 */
export function ratesOf(pass: VerdictGroup, fail: VerdictGroup, runs: number): Rates {
  const share = pass.share
  const point = at(share, pass.passed, fail.passed)
  const { tp, fn, tn, fp, good, bad } = point
  const ofShare = (share * (1 - share)) / Math.max(1, runs)
  const ofPass = smoothedVariance(pass)
  const ofFail = smoothedVariance(fail)
  // Derivatives by the share, and by the part that people pass of each verdict.
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

/** With two passes and two fails more. */
function smoothedShare({ passed, n }: VerdictGroup): number {
  return (passed * n + 2) / (n + 4)
}

function smoothedVariance(group: VerdictGroup): number {
  const share = smoothedShare(group)
  return (share * (1 - share)) / (group.n + 4)
}

/** How many runs of a share would have such a variance. */
function effective(share: number, variance: number): number {
  return variance > 0 ? Math.max(1, (share * (1 - share)) / variance) : Number.POSITIVE_INFINITY
}

/** Wilson's interval of a share of `n` runs, with `z` standard errors. */
export function wilson(share: number, n: number, z = 1.96): readonly [number, number] {
  const middle = share + z ** 2 / 2 / n
  const half = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / 4 / n ** 2)
  const scale = 1 + z ** 2 / n
  return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)]
}

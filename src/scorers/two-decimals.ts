/** Rounds half up to two decimals, after removing binary rounding errors (0.28499999999999998 for 0.285). */
export function twoDecimals(value: number): number {
  return Math.round(Number((value * 100).toPrecision(12))) / 100
}

/** A score's share of its scale, for bands, without binary rounding errors (0.8999999999999999 for 2.7 of 3). */
export function shareOfScale(score: number, scale: number): number {
  return Number((score / scale).toPrecision(12))
}

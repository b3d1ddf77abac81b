/** Rounded half up to two decimals. What binary fractions leave over (0.28499999999999998 for 0.285) is taken off first. */
export function twoDecimals(value: number): number {
  return Math.round(Number((value * 100).toPrecision(12))) / 100
}

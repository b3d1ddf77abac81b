/** Formats a score with at most three decimals, without trailing zeros. */
export function numberText(value: number): string {
  return String(Number(value.toFixed(3)))
}

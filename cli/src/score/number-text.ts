/** Formats a score with at most three decimals, without trailing zeros. */
export function numberText(value: number): string {
  return String(Number(value.toFixed(3)))
}

/** Formats a difference of scores, with its sign. */
export function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${numberText(value)}`
}

/** A score for people: three decimals at most, without zeros at their end. */
export function numberText(value: number): string {
  return String(Number(value.toFixed(3)))
}

/** The largest level at which the lengths, each capped at it, sum to at most `room`. */
export function waterLevel(lengths: readonly number[], room: number): number {
  let left = room
  const ascending = lengths.toSorted((one, other) => one - other)
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index))
    if (length > share) return share
    left -= length
  }
  return Infinity
}

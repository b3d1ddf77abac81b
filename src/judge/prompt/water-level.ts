/** The largest level at which lengths, each cut to it, come to no more than the room. */
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

/** Names that differ by more edits than this are different words, not misspellings of each other. */
const MOST_EDITS = 2

/**
 * Finds the known name that a misspelt one was probably meant to be: the nearest within two edits. An edit inserts, removes or
 * replaces a letter, or swaps two neighbours. Returns `undefined` if no known name is that near, and for names so short that
 * two edits could turn them into any other.
 */
export function closestName(name: string, known: Iterable<string>): string | undefined {
  const given = name.toLowerCase()
  let closest: string | undefined
  let fewest = Math.min(MOST_EDITS, Math.floor(given.length / 2)) + 1
  for (const candidate of known) {
    const edits = editsBetween(given, candidate.toLowerCase(), fewest)
    if (edits < fewest) [closest, fewest] = [candidate, edits]
  }
  return closest
}

/** Optimal string alignment distance; `limit` if the lengths alone differ by that much. */
function editsBetween(from: string, to: string, limit: number): number {
  if (Math.abs(from.length - to.length) >= limit) return limit
  let before: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const replaced = (previous[column - 1] ?? 0) + (isSame ? 0 : 1)
      let edits = Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (isSwap) edits = Math.min(edits, (before[column - 2] ?? 0) + 1)
      current.push(edits)
    }
    before = previous
    previous = current
  }
  return previous[to.length] ?? limit
}

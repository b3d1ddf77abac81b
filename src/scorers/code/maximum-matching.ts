/**
 * Finds a largest set of pairs between two lists that uses nothing twice (maximum bipartite matching by augmenting paths, Kuhn 1955). A
 * greedy choice would miss pairs if one item fits several others.
 *
 * @param candidates for each left item the indices of the right items that it may be paired with
 * @returns for each left item the index of its partner on the right, or `undefined`
 */
export function maximumMatching(candidates: readonly (readonly number[])[]): readonly (number | undefined)[] {
  const leftOf = new Map<number, number>()
  const rightOf: (number | undefined)[] = Array.from({ length: candidates.length })
  for (const left of candidates.keys()) augment(left, candidates, leftOf, rightOf)
  return rightOf
}

/** Searches breadth-first for a path from a free left item to a free right one, and flips the pairs along it. */
function augment(
  start: number,
  candidates: readonly (readonly number[])[],
  leftOf: Map<number, number>,
  rightOf: (number | undefined)[],
): void {
  const cameFrom = new Map<number, number>()
  const queue = [start]
  for (const left of queue) {
    for (const right of candidates[left] ?? []) {
      if (cameFrom.has(right)) continue
      cameFrom.set(right, left)
      const next = leftOf.get(right)
      if (next === undefined) {
        turnOver(right, cameFrom, leftOf, rightOf)
        return
      }
      queue.push(next)
    }
  }
}

function turnOver(
  end: number,
  cameFrom: ReadonlyMap<number, number>,
  leftOf: Map<number, number>,
  rightOf: (number | undefined)[],
): void {
  let right: number | undefined = end
  while (right !== undefined) {
    const left = cameFrom.get(right)
    if (left === undefined) return
    const before: number | undefined = rightOf[left]
    rightOf[left] = right
    leftOf.set(right, left)
    right = before
  }
}

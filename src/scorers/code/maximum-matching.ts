/**
 * A largest set of pairs between two lists in which nothing is used twice (maximum bipartite matching by augmenting paths,
 * Kuhn 1955). Taking the first that fits would miss pairs wherever one thing fits several others.
 *
 * @param fits whether two may be paired, by their indices
 * @returns for each on the left the index of its partner on the right, or `undefined`
 */
export function maximumMatching(
  leftCount: number,
  rightCount: number,
  fits: (left: number, right: number) => boolean,
): readonly (number | undefined)[] {
  const candidates = Array.from({ length: leftCount }, (_left, left) =>
    Array.from({ length: rightCount }, (_right, right) => right).filter((right) => fits(left, right)),
  )
  const leftOf: (number | undefined)[] = Array.from({ length: rightCount })
  const rightOf: (number | undefined)[] = Array.from({ length: leftCount })
  for (let left = 0; left < leftCount; left++) augment(left, candidates, leftOf, rightOf)
  return rightOf
}

/** Looks breadth-first for a path from a free one on the left to a free one on the right, and turns its pairs over. */
function augment(
  start: number,
  candidates: readonly (readonly number[])[],
  leftOf: (number | undefined)[],
  rightOf: (number | undefined)[],
): void {
  const cameFrom = new Map<number, number>()
  const queue = [start]
  for (const left of queue) {
    for (const right of candidates[left] ?? []) {
      if (cameFrom.has(right)) continue
      cameFrom.set(right, left)
      const next = leftOf[right]
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
  leftOf: (number | undefined)[],
  rightOf: (number | undefined)[],
): void {
  let right: number | undefined = end
  while (right !== undefined) {
    const left = cameFrom.get(right)
    if (left === undefined) return
    const before: number | undefined = rightOf[left]
    rightOf[left] = right
    leftOf[right] = left
    right = before
  }
}

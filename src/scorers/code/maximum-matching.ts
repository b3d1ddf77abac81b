/** Pairs that are checked per step. */
const PAIRS_OF_A_STEP = 20_000

/**
 * Finds a largest set of pairs between two lists that uses nothing twice (maximum bipartite matching by augmenting paths, Kuhn 1955), in
 * steps. A greedy choice would miss pairs if one item fits several others.
 *
 * @param fits whether two items may be paired, by their indices
 * @returns for each left item the index of its partner on the right, or `undefined`
 */
export function* maximumMatching(
  leftCount: number,
  rightCount: number,
  fits: (left: number, right: number) => boolean,
): Generator<undefined, readonly (number | undefined)[]> {
  const pauses = pausesAfter(PAIRS_OF_A_STEP)
  const candidates: number[][] = []
  for (let left = 0; left < leftCount; left++) {
    const fitting: number[] = []
    for (let right = 0; right < rightCount; right++) {
      if (fits(left, right)) fitting.push(right)
      if (pauses()) yield
    }
    candidates.push(fitting)
  }
  const leftOf: (number | undefined)[] = Array.from({ length: rightCount })
  const rightOf: (number | undefined)[] = Array.from({ length: leftCount })
  for (let left = 0; left < leftCount; left++) yield* augment(left, candidates, leftOf, rightOf, pauses)
  return rightOf
}

/** Searches breadth-first for a path from a free left item to a free right one, and flips the pairs along it. */
function* augment(
  start: number,
  candidates: readonly (readonly number[])[],
  leftOf: (number | undefined)[],
  rightOf: (number | undefined)[],
  pauses: () => boolean,
): Generator<undefined, void> {
  const cameFrom = new Map<number, number>()
  const queue = [start]
  for (const left of queue) {
    for (const right of candidates[left] ?? []) {
      if (pauses()) yield
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

/** Creates a counter that returns true at each n-th call. */
function pausesAfter(calls: number): () => boolean {
  let left = calls
  return () => {
    left -= 1
    if (left > 0) return false
    left = calls
    return true
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

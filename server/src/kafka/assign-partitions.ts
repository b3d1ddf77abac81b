/** A member of the group and its partitions. */
export interface Member {
  readonly id: string
  readonly owned: readonly number[]
}

/**
 * Distributes partitions evenly and moves as few as possible, because a moved partition has to be read again. A partition here means that
 * of the spans and that of the log records with the same number.
 *
 * @returns the partitions of each member, by its id
 */
export function assignPartitions(
  members: readonly Member[],
  partitionCount: number,
): ReadonlyMap<string, readonly number[]> {
  const sorted = members.toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const free = new Set(Array.from({ length: partitionCount }, (_, partition) => partition))
  const fewest = Math.floor(partitionCount / Math.max(sorted.length, 1))
  let withOneMore = partitionCount - fewest * sorted.length
  const assigned = new Map<string, number[]>()
  // Members with the most partitions keep one more, if there are partitions left.
  for (const { id, owned } of sorted.toSorted((left, right) => right.owned.length - left.owned.length)) {
    const own = owned.filter((partition) => free.has(partition))
    const quota = own.length > fewest && withOneMore > 0 ? fewest + 1 : fewest
    if (quota > fewest) withOneMore -= 1
    const kept = own.slice(0, quota)
    for (const partition of kept) free.delete(partition)
    assigned.set(id, kept)
  }
  for (const { id } of sorted) {
    const kept = assigned.get(id) ?? []
    let quota = fewest
    if (kept.length <= fewest && withOneMore > 0) {
      quota += 1
      withOneMore -= 1
    }
    for (const partition of free) {
      if (kept.length >= quota) break
      kept.push(partition)
      free.delete(partition)
    }
  }
  return assigned
}

/** What is looked at of a partition. */
export interface WatchedPartition {
  readonly number: number
  /** Messages that were not read yet. */
  readonly lag: number
  /** For how long messages have waited of which none was read, in milliseconds. */
  idleMs(nowMs: number): number
  readonly buffer: { readonly isFull: boolean }
}

/** Messages that wait for so long while nothing is read are no mere waiting. */
const STUCK_MS = 30_000

/**
 * Why a worker ought to be restarted, although it is a member of its group and its scores get out; `undefined` if it works.
 *
 * @param orphanMs How long spans wait for their parent: as long as that a full buffer may wait for a run that is not whole.
 * @param refusal What the brokers refuse, if anything.
 */
export function whyStuck(
  partitions: Iterable<WatchedPartition>,
  nowMs: number,
  orphanMs: number,
  refusal?: string,
): string | undefined {
  for (const partition of partitions) {
    const idleMs = partition.idleMs(nowMs)
    if (idleMs < STUCK_MS + (partition.buffer.isFull ? orphanMs : 0)) continue
    return `Nothing was read from partition ${partition.number} for ${Math.round(idleMs / 1000)} s although ${partition.lag} messages wait.${refusal === undefined ? '' : ` ${refusal}.`}`
  }
  return undefined
}

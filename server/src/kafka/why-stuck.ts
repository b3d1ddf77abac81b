/** The facts about a partition. */
export interface WatchedPartition {
  readonly number: number
  /** Unread messages. */
  readonly lag: number
  /** For how many milliseconds messages have waited without any being read. */
  idleMs(nowMs: number): number
  readonly buffer: { readonly isFull: boolean }
}

/** If nothing is read for this long while messages wait, the worker is stuck. */
const STUCK_MS = 30_000

/**
 * Why a worker should be restarted although it is a group member and its scores are delivered; `undefined` if it works.
 *
 * @param orphanMs how long spans wait for their parent: a full buffer may wait this long for an incomplete run
 * @param refusal what the brokers refuse, if anything
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

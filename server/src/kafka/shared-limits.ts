import type { HeldTracesOptions } from '../traces/held-traces-options.ts'

/**
 * Limits of one partition's buffer: an equal share of what the process may hold. It changes with the partitions that the process has, so
 * that each further worker adds room.
 *
 * @param partitions how many partitions the process has now
 */
export function sharedLimits(limits: HeldTracesOptions, partitions: () => number): HeldTracesOptions {
  const share = (limit: number): number => Math.ceil(limit / Math.max(partitions(), 1))
  return {
    ...limits,
    get maxSpans(): number {
      return share(limits.maxSpans)
    },
    get maxContentBytes(): number {
      return share(limits.maxContentBytes)
    },
  }
}

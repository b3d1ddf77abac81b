import { lookAt } from '../attach/look-at.ts'
import { isRecord } from '../../spans/json.ts'

/**
 * How many ended spans wait in batch processors. Their list is private in SDK 1.30, 2.x and 3.x; there is no public way to count them.
 * Other processors count as empty.
 */
export function countUnsentSpans(processors: readonly unknown[]): number {
  return processors.reduce<number>((sum, each) => sum + (lookAt(() => unsentIn(each)) ?? 0), 0)
}

function unsentIn(processor: unknown): number {
  if (!isRecord(processor)) return 0
  const behind = processor['processors']
  if (Array.isArray(behind)) return countUnsentSpans(behind)
  const waiting = processor['_finishedSpans']
  return Array.isArray(waiting) ? waiting.length : 0
}

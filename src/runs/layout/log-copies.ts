import { canonicalJsonWithin } from '../../spans/json.ts'
import type { SourceLog } from '../../spans/source-span.ts'

/** Characters of a record that are compared. */
const MAX_COMPARED = 65_536

/**
 * Removes copies of log records: OTLP delivers at least once, so a sender that retries may send a record twice.
 *
 * Records that are equal in every field are copies if their clock counts in fractions of a millisecond. A clock of milliseconds gives equal
 * messages of one request the same time, so there they are copies only if every record of the span is there equally often.
 *
 * @param logs the records of one span, ordered by time
 */
export function withoutLogCopies(logs: readonly SourceLog[]): readonly SourceLog[] {
  if (!logs.some((log, index) => isAlike(log, logs[index - 1]))) return logs
  const counts = new Map<string, number>()
  const keyed = logs.map((log) => {
    const key = keyOf(log)
    counts.set(key, (counts.get(key) ?? 0) + 1)
    return { log, key }
  })
  const times = [...counts.values()].reduce(greatestCommonDivisor)
  const kept = new Map<string, number>()
  return keyed.flatMap(({ log, key }) => {
    const seen = (kept.get(key) ?? 0) + 1
    kept.set(key, seen)
    const most = Number.isInteger(log.timeMs) ? (counts.get(key) ?? 1) / times : 1
    return seen <= most ? [log] : []
  })
}

/** A cheap first look: copies have the same time. */
function isAlike(log: SourceLog, before: SourceLog | undefined): boolean {
  return before !== undefined && log.timeMs === before.timeMs
}

function keyOf({ timeMs, eventName, scope, attributes, body }: SourceLog): string {
  return canonicalJsonWithin(MAX_COMPARED, [timeMs, eventName, scope.name, attributes, body])
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right)
}

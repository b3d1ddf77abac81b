import { LiveRun } from './live-run.ts'
import type { LiveRunSource } from './live-run.ts'
import type { LiveGroup } from './live-span.ts'
import type { Settlement } from './settlement.ts'
import type { SpanGroups } from './span-groups.ts'
import type { TraceStoreOptions } from './trace-store-options.ts'

/** The parts of the store that eviction needs. */
export interface EvictionParts {
  readonly groups: SpanGroups
  readonly settlement: Settlement
  readonly options: Pick<TraceStoreOptions, 'maxOpenRuns' | 'maxContentBytes' | 'maxRunAgeMs' | 'now' | 'onEvicted'>
  readonly close: (group: LiveGroup) => void
}

/** Maximum number of groups that are evicted at a time. One large attribute may take the place of thousands of them. */
const MOST_EVICTED = 100

/** Evicts the oldest groups while there are too many or they hold too much. The next sweep evicts what is left. */
export function keepBounds(parts: EvictionParts): void {
  for (let left = MOST_EVICTED; left > 0 && isOverBounds(parts); left -= 1) if (!evictOldest(parts)) return
}

/** Whether there are too many groups, or they hold too much. */
export function isOverBounds({ groups, options }: EvictionParts): boolean {
  return groups.size > options.maxOpenRuns || groups.heldBytes > options.maxContentBytes
}

/** Evicts the oldest group if it is too old. It need not be called with every span: reading the clock so often costs more than the rest. */
export function evictTooOld(parts: EvictionParts): void {
  const { oldest } = parts.groups
  const { maxRunAgeMs, now } = parts.options
  if (oldest !== undefined && now() - oldest.sinceMs >= maxRunAgeMs) evictOldest(parts)
}

function evictOldest({ groups, settlement, options, close }: EvictionParts): boolean {
  const { oldest } = groups
  if (oldest === undefined) return false
  const agent = oldest.top
  if (oldest.waiting.size > 0) settlement.settleAllOf(oldest)
  else if (agent !== undefined && !oldest.hasRun) {
    const { traceId, wanted } = oldest
    options.onEvicted(new LiveRun({ span: agent.sdkSpan, traceId, kind: 'run', wanted }, NO_SPANS))
  }
  if (!oldest.closed) close(oldest)
  return true
}

/** Nothing is known about the spans of an evicted run. */
const NO_SPANS: LiveRunSource = {
  version: 0,
  spanCount: 0,
  contentBytes: 0,
  hasOpenSpans: false,
  plan: () => undefined,
  freeze: () => undefined,
  readBytes: 0,
  readInSteps: nothing,
}

function* nothing(): Generator<undefined, void> {}

import type { HeldSpan, RunUnit } from './held-span.ts'
import type { HeldTrace } from './held-trace.ts'

/** How long units wait. All times are times of the log, in milliseconds. */
export interface WaitingTimes {
  /** How long no span of a run may have arrived. */
  readonly settleMs: number
  /** How long spans wait for a missing parent. */
  readonly orphanMs: number
  /** How long spans may wait in total. */
  readonly maxAgeMs: number
}

/** How often a unit that waits for another one is checked again. */
export const LOOK_AGAIN_MS = 500

/** When a unit is complete, as far as is known. */
export function whenDue(trace: HeldTrace, unit: RunUnit, nowMs: number, times: WaitingTimes): number {
  const { settleMs, orphanMs, maxAgeMs } = times
  const ageMs = unit.firstSeenMs + maxAgeMs
  const lastSeenMs = trace.isFlat ? latest(trace.units) : unit.lastSeenMs
  const quietMs = lastSeenMs + settleMs
  if (quietMs > nowMs) return Math.min(quietMs, ageMs)
  if (isLoose(unit)) {
    // If they share a parent, it is lost to all of them, and they are reconstructed from what is left.
    trace.looseSeenMs ??= latest([...trace.units].filter(isLoose))
    return Math.min(trace.looseSeenMs + orphanMs, ageMs)
  }
  const blockedMs = blockedUntil(trace, unit, { nowMs, quietMs, orphanMs })
  return blockedMs > nowMs ? Math.min(nowMs + LOOK_AGAIN_MS, blockedMs, ageMs) : quietMs
}

/** Whether a span waits for its parent and cannot be the outermost one of a run. */
export function isDangling({ isAnchor, parentSpanId, parent }: HeldSpan): boolean {
  return !isAnchor && parentSpanId !== undefined && parent === undefined
}

/**
 * Until when to wait for spans with a missing parent, which may be part of this unit or of an agent around it that is still active. Spans
 * that arrived after the unit had been quiet for long enough are not waited for: in a long trace, there are always some of other runs. Start
 * and end times are only compared if they are by the same clock.
 */
function blockedUntil(
  trace: HeldTrace,
  unit: RunUnit,
  { nowMs, quietMs, orphanMs }: { readonly nowMs: number; readonly quietMs: number; readonly orphanMs: number },
): number {
  const { sender } = unit.top
  let untilMs = nowMs
  let endTimeMs: number | undefined
  trace.looseTops ??= [...trace.units].filter(isLoose).map(({ top }) => top)
  for (const other of trace.looseTops) {
    if (other.unit === undefined || other.unit === unit || !isLoose(other.unit) || other.unit.state === 'emitted')
      continue
    if (other.unit.firstSeenMs > quietMs) continue
    if (other.sender === sender && other.startTimeMs >= (endTimeMs ??= latestEnd(unit.spans, sender))) continue
    untilMs = Math.max(untilMs, other.unit.lastSeenMs + orphanMs)
    // It is checked again by then anyway.
    if (untilMs >= nowMs + LOOK_AGAIN_MS) return untilMs
  }
  return untilMs
}

/** When the last one of a sender's spans ended, by its clock. */
function latestEnd(spans: readonly HeldSpan[], sender: string): number {
  let latestMs = Number.NEGATIVE_INFINITY
  for (const span of spans) if (span.sender === sender) latestMs = Math.max(latestMs, span.endTimeMs)
  return latestMs
}

function isLoose(unit: RunUnit): boolean {
  return unit.recognised > 0 && isDangling(unit.top)
}

function latest(units: Iterable<RunUnit>): number {
  let latestMs = 0
  for (const { lastSeenMs } of units) latestMs = Math.max(latestMs, lastSeenMs)
  return latestMs
}

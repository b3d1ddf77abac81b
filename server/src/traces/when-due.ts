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
    return Math.min(latest([...trace.units].filter(isLoose)) + orphanMs, ageMs)
  }
  const blockedMs = blockedUntil(trace, unit, nowMs, orphanMs)
  return blockedMs > nowMs ? Math.min(nowMs + LOOK_AGAIN_MS, blockedMs, ageMs) : quietMs
}

/** Whether a span waits for its parent and cannot be the outermost one of a run. */
export function isDangling({ isAnchor, parentSpanId, parent }: HeldSpan): boolean {
  return !isAnchor && parentSpanId !== undefined && parent === undefined
}

/**
 * Until when to wait for spans with a missing parent, which may be part of this unit or of an agent around it that is still active. Start
 * and end times are only compared if they are by the same clock.
 */
function blockedUntil(trace: HeldTrace, unit: RunUnit, nowMs: number, orphanMs: number): number {
  let untilMs = nowMs
  for (const waiting of trace.waiting.values()) {
    for (const { unit: other, sender } of waiting) {
      if (other === undefined || other === unit || !isLoose(other) || other.state === 'emitted') continue
      if (sender === unit.top.sender && other.startTimeMs >= unit.endTimeMs) continue
      untilMs = Math.max(untilMs, other.lastSeenMs + orphanMs)
    }
  }
  return untilMs
}

function isLoose(unit: RunUnit): boolean {
  return unit.recognised > 0 && isDangling(unit.top)
}

function latest(units: Iterable<RunUnit>): number {
  let latestMs = 0
  for (const { lastSeenMs } of units) latestMs = Math.max(latestMs, lastSeenMs)
  return latestMs
}

import type { RunUnit } from './held-span.ts'
import type { HeldTrace } from './held-trace.ts'
import { isLoose, LooseUnits } from './loose-units.ts'

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

/**
 * When a unit is complete, as far as is known.
 *
 * A unit also waits for spans with a missing parent, which may be part of it or of an agent around it that is still active. Spans that arrived
 * after the unit had been quiet for long enough are not waited for: in a long trace, there are always some of other runs. Start and end
 * times are only compared if they are by the same clock.
 */
export function whenDue(trace: HeldTrace, unit: RunUnit, nowMs: number, times: WaitingTimes): number {
  const { settleMs, orphanMs, maxAgeMs } = times
  const ageMs = unit.firstSeenMs + maxAgeMs
  const lastSeenMs = trace.isFlat ? trace.lastSeenMs : unit.lastSeenMs
  const quietMs = lastSeenMs + settleMs
  if (quietMs > nowMs) return Math.min(quietMs, ageMs)
  if (trace.loose?.isValid(nowMs) !== true) trace.loose = new LooseUnits(trace.units, { nowMs, orphanMs })
  // If they share a parent, it is lost to all of them, and they are reconstructed from what is left.
  if (isLoose(unit)) return Math.min(trace.loose.lastSeenMs + orphanMs, ageMs)
  const blockedMs = trace.loose.blockedUntil(unit, quietMs) ?? nowMs
  return blockedMs > nowMs ? Math.min(nowMs + LOOK_AGAIN_MS, blockedMs, ageMs) : quietMs
}

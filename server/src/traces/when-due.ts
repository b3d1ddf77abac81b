import type { RunUnit } from './held-trace.ts'
import type { HeldSpan } from './held-span.ts'
import { LooseUnits } from './loose-units.ts'

/** How long units wait. All times are times of the log, in milliseconds. */
export interface WaitingTimes {
  /** How long no span of a run may have arrived. */
  readonly settleMs: number
  /** How long spans wait for a missing parent. */
  readonly orphanMs: number
  /** How long spans may wait in total. */
  readonly maxAgeMs: number
}

/** The same, if spans of some services wait for a shorter time. */
export interface LookTimes extends Omit<WaitingTimes, 'orphanMs'> {
  readonly orphanMs: (span: HeldSpan) => number
}

/** How often a unit that waits for another one is checked again. */
const LOOK_AGAIN_MS = 500

/**
 * When the units of a trace are complete, as far as is known at one time.
 *
 * A unit also waits for spans with a missing parent, which may be part of it or of an agent around it that is still active. Spans that arrived
 * after the unit had been quiet for long enough are not waited for: in a long trace, there are always some of other runs. Start and end
 * times are only compared if they are by the same clock.
 */
export class WhenDue {
  readonly #units: readonly RunUnit[]
  readonly #nowMs: number
  readonly #times: LookTimes
  /** If parents do not show what belongs together, the whole trace is one. */
  readonly #lastSeenMs: number | undefined
  #loose: LooseUnits | undefined

  constructor(units: readonly RunUnit[], isFlat: boolean, nowMs: number, times: LookTimes) {
    this.#units = units
    this.#nowMs = nowMs
    this.#times = times
    this.#lastSeenMs = isFlat
      ? units.reduce((lastMs, { lastSeenMs }) => Math.max(lastMs, lastSeenMs), Number.NEGATIVE_INFINITY)
      : undefined
  }

  /** When an open unit is complete. */
  of(unit: RunUnit): number {
    const { settleMs, orphanMs, maxAgeMs } = this.#times
    const nowMs = this.#nowMs
    const ageMs = unit.firstSeenMs + maxAgeMs
    const quietMs = (this.#lastSeenMs ?? unit.lastSeenMs) + settleMs
    if (quietMs > nowMs) return Math.min(quietMs, ageMs)
    this.#loose ??= new LooseUnits(this.#units, nowMs, orphanMs)
    // If they share a parent, it is lost to all of them, and they are reconstructed from what is left.
    if (unit.isLoose) return Math.min(this.#loose.untilMs, ageMs)
    const blockedMs = this.#loose.blockedUntil(unit, quietMs) ?? nowMs
    return blockedMs > nowMs ? Math.min(nowMs + LOOK_AGAIN_MS, blockedMs, ageMs) : quietMs
  }
}

/** The state of a limit in plain numbers, so that another process can continue from there. */
export interface LimitHistory {
  /** The length of the window, in milliseconds. */
  readonly windowMs: number
  /** The amounts that were spent in each sixtieth of the window, the newest first. */
  readonly spent: readonly number[]
  /** The amounts that were requested, in the same order. */
  readonly wanted: readonly number[]
  /** The requested amounts that were admitted at the full rate, in the same order. */
  readonly free: readonly number[]
  /** The actual cost of a score, as a share of its reservation. */
  readonly takenShare: number
  /** The moving average of reservations for one score. */
  readonly reservedPerScore: number
  /** The sum of requested amounts, in which older ones count less. */
  readonly remembered: number
  /** For how long there has been demand, in milliseconds; 0 if there was none. */
  readonly seenMs: number
}

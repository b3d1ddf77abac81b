/** What a limit knows of its past, in plain numbers, so that another process can go on from there. */
export interface LimitHistory {
  /** The length of the window, in milliseconds. */
  readonly windowMs: number
  /** What was spent, by sixtieths of the window, the newest first. */
  readonly spent: readonly number[]
  /** What was asked for. */
  readonly wanted: readonly number[]
  /** Of what was asked for, what was let through whole. */
  readonly free: readonly number[]
  /** What a score takes, as a share of what was reserved for it. */
  readonly takenShare: number
  /** What is reserved for a score. */
  readonly reservedPerScore: number
  /** Amounts that were asked for, older ones counting less. */
  readonly remembered: number
  /** For how long demand has been seen, in milliseconds; 0 where none has. */
  readonly seenMs: number
}

/** How far one scorer has come with one run. */
export type ScoringState =
  /** The scorer is asked when the run is settled. */
  | 'waiting'
  /** The score is in line for admission. */
  | 'queued'
  /** The score is admitted, and waits for its turn. */
  | 'admitted'
  /** The scorer is at work. */
  | 'scoring'
  /** There is a score, given while spans of the run were open. It is checked when they have ended. */
  | 'provisional'
  /** Nothing more comes. */
  | 'done'

/** What each state may turn into. */
const NEXT_STATES: Readonly<Record<ScoringState, readonly ScoringState[]>> = {
  waiting: ['queued'],
  queued: ['admitted', 'queued', 'provisional', 'done'],
  admitted: ['scoring', 'queued', 'provisional', 'done'],
  scoring: ['queued', 'provisional', 'done'],
  provisional: ['queued', 'scoring', 'done'],
  done: [],
}

/** Whether a state may turn into another. */
export function mayBecome(from: ScoringState, to: ScoringState): boolean {
  return NEXT_STATES[from].includes(to)
}

import type { Failed, Skipped } from '../model/score.ts'

/** The value, or the score that says why there is none. */
export type JudgeOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly score: Skipped | Failed }

import type { Failed, Skipped } from '../model/score.ts'

/** What was asked for, or the score that says why it could not be had. */
export type JudgeOutcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly score: Skipped | Failed }

import type { Usage } from './message.ts'

/** Never asked, or nothing to ask about. */
export type SkipReason =
  | 'filtered'
  | 'not-applicable'
  | 'no-content'
  | 'no-output'
  | 'run-failed'
  | 'not-finished'
  | 'incomplete'
  | 'sampled-out'
  | 'over-budget'
  | 'circuit-open'
  | 'judge-unavailable'
  | 'unsampled'
  | 'already-scored'
  | 'queue-full'
  | 'expired'
  | 'shutdown'

/** Asked, and no valid score. */
export type FailureCode =
  | 'scorer-threw'
  | 'scorer-timeout'
  | 'invalid-score'
  | 'redact-failed'
  | 'judge-timeout'
  | 'judge-http'
  | 'judge-auth'
  | 'judge-quota'
  | 'judge-refused'
  | 'judge-invalid-reply'
  | 'judge-unanswered'
  | 'judge-compromised'

/** A number within the scorer's range, in the scorer's own units. */
export interface Scored {
  readonly status: 'scored'
  readonly value: number
  readonly label: 'pass' | 'fail'
  /** A word for where the value lies, in scorers that name bands. */
  readonly band?: string
  readonly explanation?: string
  /** The explanation without what came out of the run's content; absent where nobody vouched for any of it. */
  readonly explanationWithoutContent?: string
  readonly details?: unknown
}

/** No score, because there was nothing to ask, or it was decided not to. The message says what to do. */
export interface Skipped {
  readonly status: 'skipped'
  readonly reason: SkipReason
  readonly message: string
  /** The message without what came out of the run's content; absent where nobody vouched for any of it. */
  readonly messageWithoutContent?: string
}

/** No score, because asking went wrong. The message says what to do. */
export interface Failed {
  readonly status: 'failed'
  readonly code: FailureCode
  readonly message: string
  /** The message without what came out of the run's content; absent where nobody vouched for any of it. */
  readonly messageWithoutContent?: string
}

/** What a scorer says of a run. Never null, NaN, or a number in place of a score that could not be had. */
export type Score = Scored | Skipped | Failed

/** What the judge calls of one score took, all tries counted. */
export interface JudgeReport {
  /** The model that answered, as the provider names it; else the one that was asked. */
  readonly model: string
  readonly calls: number
  readonly usage: Usage
  /** US dollars; absent where the model's price is unknown. */
  readonly costUsd?: number
}

/** One scorer's result for one revision of one run, with what is needed to weigh and to explain it. */
export interface Evaluation {
  readonly scorer: {
    readonly id: string
    readonly version: string
    readonly kind: 'code' | 'judge'
    readonly range: readonly [number, number]
    readonly better: 'higher' | 'lower'
    readonly passAt: number
  }
  readonly runId: string
  readonly revision: number
  readonly complete: boolean
  /** Probability with which this run was chosen for this scorer, 0..1; absent where it is not known. */
  readonly probability?: number
  readonly durationMs: number
  readonly judge?: JudgeReport
  readonly score: Score
}

import type { Usage } from './message.ts'

/** Never asked, or nothing to ask about. */
export type SkipReason =
  /** The scorer's `agent` or `when` left the run out. */
  | 'filtered'
  /** There is nothing in this run that the scorer could score, such as no tool call. */
  | 'not-applicable'
  /** The spans do not hold the messages, arguments or results that the scorer reads. The message names the setting. */
  | 'no-content'
  /** The run ended without an answer. */
  | 'no-output'
  /** The run failed before there was anything to score. An outage is not a bad score. */
  | 'run-failed'
  /** The run waits for something outside of it, such as an approval or a tool of the client. */
  | 'not-finished'
  /** The run was given up at a limit, or the spans that were kept do not make a run. */
  | 'incomplete'
  /** The run is not among those that `sample` keeps. */
  | 'sampled-out'
  /** The budget lowers the rate of judges, and the run is not among those that the lower rate keeps. Weights make up for it. */
  | 'thinned'
  /**
   * The run was chosen, and the budget had no room for it, it would have counted for more than 1,000 runs, or it is too large to be
   * handed to a judge worker.
   */
  | 'refused'
  /** The judge failed repeatedly, or cannot answer, and is not asked for a while. */
  | 'circuit-open'
  /** The key or the package of the judge is missing, or no judge worker has this version of it. */
  | 'judge-unavailable'
  /** The span is recorded but not sampled. `scoreUnsampled` has it judged. */
  | 'unsampled'
  /** The span carries this score already: two scoring processors see the same spans. */
  | 'already-scored'
  /** More scores waited than `queueSize` allows. */
  | 'queue-full'
  /** The score waited for so long that its run is no longer of interest. */
  | 'expired'
  /** The process was shut down before the score was in. */
  | 'shutdown'

/** Asked, and no valid score. */
export type FailureCode =
  /** The scorer, its `when` or its `sample` threw or rejected. */
  | 'scorer-threw'
  /** The scorer took longer than `timeoutMs`. */
  | 'scorer-timeout'
  /** What the scorer gave is not a number within the scorer's range. */
  | 'invalid-score'
  /** `redact` threw or gave no run. Nothing was sent to the judge. */
  | 'redact-failed'
  /** The judge did not answer within `timeoutMs`. */
  | 'judge-timeout'
  /** The judge could not be reached, or its server answered with an error. */
  | 'judge-http'
  /** The judge's server refused the key. */
  | 'judge-auth'
  /** The judge's account is out of credit, or over its rate limit. */
  | 'judge-quota'
  /** The judge, or its provider's content filter, refused to answer. */
  | 'judge-refused'
  /** The reply of the judge does not have the shape that was asked for, also after a repair. */
  | 'judge-invalid-reply'
  /** The judge left questions open, also when it was asked again. */
  | 'judge-unanswered'
  /** The judge answered a control question wrongly: it was talked into something. */
  | 'judge-compromised'

/** A number within the scorer's range, in the scorer's own units. */
export interface Scored {
  /** Which of the three kinds of scores it is. */
  readonly status: 'scored'
  /** Within the scorer's range, in the scorer's own units. */
  readonly value: number
  /** Whether the value reaches the scorer's pass mark. */
  readonly label: 'pass' | 'fail'
  /** A word for where the value lies, in scorers that name bands. */
  readonly band?: string
  /** Why the score is what it is, in a sentence or a few. */
  readonly explanation?: string
  /** The explanation without what came out of the run's content; absent where no part of it is known to be free of content. */
  readonly explanationWithoutContent?: string
  /** What the scorer found, in a shape of its own. */
  readonly details?: unknown
}

/** No score, because there was nothing to ask, or it was decided not to. The message says what to do. */
export interface Skipped {
  /** Which of the three kinds of scores it is. */
  readonly status: 'skipped'
  /** Why the scorer was not asked. */
  readonly reason: SkipReason
  /** One sentence for people; it says what to do where something can be done. */
  readonly message: string
  /** The message without what came out of the run's content; absent where no part of it is known to be free of content. */
  readonly messageWithoutContent?: string
}

/** No score, because asking went wrong. The message says what to do. */
export interface Failed {
  /** Which of the three kinds of scores it is. */
  readonly status: 'failed'
  /** What went wrong. */
  readonly code: FailureCode
  /** One sentence for people; it says what to do where something can be done. */
  readonly message: string
  /** The message without what came out of the run's content; absent where no part of it is known to be free of content. */
  readonly messageWithoutContent?: string
}

/** What a scorer says of a run. Never null, NaN, or a number in place of a score that could not be had. */
export type Score = Scored | Skipped | Failed

/** What the judge calls of one score took, all tries counted. */
export interface JudgeReport {
  /** The model that answered, as the provider names it, `mixed` where several did; else the one that was asked. */
  readonly model: string
  /** How often a model was asked, repeated tries included. */
  readonly calls: number
  /** Tokens of all calls. */
  readonly usage: Usage
  /** US dollars; absent where the model's price is unknown. */
  readonly costUsd?: number
}

/** One scorer's result for one revision of one run, with what is needed to weigh and to explain it. */
export interface Evaluation {
  /** The scorer with its range, its better end and its pass mark. */
  readonly scorer: {
    readonly id: string
    readonly version: string
    readonly kind: 'code' | 'judge'
    readonly range: readonly [number, number]
    readonly better: 'higher' | 'lower'
    readonly passAt: number
  }
  /** `AgentRun.id`. */
  readonly runId: string
  /** 1 for the first state of the run that was scored; higher where spans came later. */
  readonly revision: number
  /** Whether the run was complete when it was scored. */
  readonly complete: boolean
  /**
   * Probability with which this run was chosen for this scorer, .001 to 1: its rate times the budget's factor. Absent where
   * the run was not chosen.
   */
  readonly probability?: number
  /** Probability with which the tracer kept the run, where the application says so or lets tracestate say it. */
  readonly upstreamProbability?: number
  /** How long the scorer took, in milliseconds. */
  readonly durationMs: number
  /** What asking the judge took. Absent where no judge was asked. */
  readonly judge?: JudgeReport
  /** The score, or why there is none. */
  readonly score: Score
}

import type { Finding } from './finding.ts'
import type { Usage } from './message.ts'

/** Why a scorer was not asked, or had nothing to score. */
export type SkipReason =
  /** The scorer's `agent` or `when` excluded the run. */
  | 'filtered'
  /** The run has nothing that the scorer could score, such as no tool call. */
  | 'not-applicable'
  /** The spans lack the messages, arguments or results that the scorer reads. The message names the setting. */
  | 'no-content'
  /** The run ended without an answer. */
  | 'no-output'
  /** The run failed before there was anything to score. An outage is not a bad score. */
  | 'run-failed'
  /** A tool that the scorer expects was never offered to this agent, and one of a similar name is. */
  | 'no-such-tool'
  /** The run waits for something external, such as an approval or a client-side tool. */
  | 'not-finished'
  /** The run was evicted at a limit, or the kept spans do not form a run. */
  | 'incomplete'
  /** `sample` did not keep the run. */
  | 'sampled-out'
  /** The budget lowers the rate of judges, and the lower rate did not keep the run. Weights compensate for it. */
  | 'thinned'
  /** The run was chosen, but the budget had no room for it, or it would have counted for more than 1,000 runs. */
  | 'refused'
  /** The judge failed repeatedly, or cannot answer, and is not asked for a while. */
  | 'circuit-open'
  /** The judge's key or package is missing. */
  | 'judge-unavailable'
  /** The span is recorded but not sampled. Set `scoreUnsampled` to ask judges about it. */
  | 'unsampled'
  /** The span already has this score, because two scoring processors see the same spans. */
  | 'already-scored'
  /** More scores waited than `queueSize` allows. */
  | 'queue-full'
  /** The score waited in the queue for too long. */
  | 'expired'
  /** The process was shut down before the score was in. */
  | 'shutdown'

/** Why a scorer that was asked gave no valid score. */
export type FailureCode =
  /** The scorer, its `when` or its `sample` threw or rejected. */
  | 'scorer-threw'
  /** The scorer took longer than `timeoutMs`. */
  | 'scorer-timeout'
  /** The scorer returned something other than a number within its range. */
  | 'invalid-score'
  /** `redact` threw or did not return a run. Nothing was sent to the judge. */
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
  /** The judge's reply is invalid, even after a repair. */
  | 'judge-invalid-reply'
  /** The judge left questions unanswered, even when asked again. */
  | 'judge-unanswered'

/** A number within the scorer's range, in the scorer's own units. */
export interface Scored {
  /** The kind of score. */
  readonly status: 'scored'
  /** Within the scorer's range, in the scorer's own units. */
  readonly value: number
  /** Whether the run passes: by what the scorer found, else by its pass mark. */
  readonly label: 'pass' | 'fail'
  /** The name of the value's band, for scorers with bands. */
  readonly band?: string
  /** The reason for the score, in one or a few sentences. */
  readonly explanation?: string
  /** The explanation without content of the run; absent if no part of it is known to be free of content. */
  readonly explanationWithoutContent?: string
  /** What the scorer found, one by one, with the places in the run. They may quote the run. Absent if it found nothing to point at. */
  readonly findings?: readonly Finding[]
  /** How many things of the kind that it looks for the scorer found, whether they count or not, such as attacks that were resisted. */
  readonly found?: number
  /** More of what the scorer found, in a format of its own. */
  readonly details?: unknown
}

/** No score, because there was nothing to score, or by decision. The message says what to do. */
export interface Skipped {
  /** The kind of score. */
  readonly status: 'skipped'
  /** Why the scorer was not asked. */
  readonly reason: SkipReason
  /** One sentence for people. It says what to do, if anything can be done. */
  readonly message: string
  /** The message without content of the run; absent if no part of it is known to be free of content. */
  readonly messageWithoutContent?: string
}

/** No score, because of an error. The message says what to do. */
export interface Failed {
  /** The kind of score. */
  readonly status: 'failed'
  /** What went wrong. */
  readonly code: FailureCode
  /** One sentence for people. It says what to do, if anything can be done. */
  readonly message: string
  /** The message without content of the run; absent if no part of it is known to be free of content. */
  readonly messageWithoutContent?: string
}

/** A scorer's result for a run. It is never null, NaN, or a number in place of a missing score. */
export type Score = Scored | Skipped | Failed

/** What a score is about. A scorer of calls is asked once a run, about all its calls. */
export type ScorerLevel =
  /** One run of an agent. */
  | 'run'
  /** One tool call of a run. */
  | 'tool-call'
  /** One retrieval of a run. */
  | 'retrieval'
  /** The runs that have a conversation id in common. */
  | 'conversation'

/** The score of one call of a run, by a scorer of calls. */
export interface CallScore {
  /** Its index in `run.toolCalls`, or in `run.retrievals`. */
  readonly index: number
  /** The name of the tool, or what was searched. */
  readonly name?: string
  /** The model's id for a tool call. */
  readonly toolCallId?: string
  /** The span of the call: 16 lower-case hex digits; absent if it has none. */
  readonly spanId?: string
  /** The trace of that span, if it is not the run's. */
  readonly traceId?: string
  /** The score, or why there is none. */
  readonly score: Score
}

/** Usage and cost of one score's judge calls, including retries. */
export interface JudgeReport {
  /** The model that answered, as the provider names it, or `mixed` if there were several; otherwise the requested model. */
  readonly model: string
  /** How many calls were made, including retries. */
  readonly calls: number
  /** Tokens of all calls. */
  readonly usage: Usage
  /** US dollars; absent if the model's price is unknown. */
  readonly costUsd?: number
  /** Whether the provider warned that it did not use `judge.effort`. @default false */
  readonly isEffortIgnored?: boolean
}

/** One scorer's result for one revision of one run, with the data to weigh and explain it. */
export interface Evaluation {
  /** The scorer with its range, its better end and its pass mark. */
  readonly scorer: {
    readonly id: string
    readonly version: string
    readonly kind: 'code' | 'judge'
    readonly range: readonly [number, number]
    readonly better: 'higher' | 'lower'
    readonly passAt: number
    readonly level: ScorerLevel
  }
  /** `AgentRun.id`. */
  readonly runId: string
  /** 1 for the first scored state of the run; higher if spans arrived later. */
  readonly revision: number
  /** Whether the run was complete when it was scored. */
  readonly complete: boolean
  /**
   * The probability with which this run was chosen for this scorer, .001 to 1: its rate times the budget's factor. Absent if the run was
   * not chosen.
   */
  readonly probability?: number
  /** The probability with which the tracer kept the run, if the application configures it or trusts tracestate. */
  readonly upstreamProbability?: number
  /** How long the scorer took, in milliseconds. */
  readonly durationMs: number
  /** Usage and cost of the judge. Absent if no judge was asked. */
  readonly judge?: JudgeReport
  /** The score, or why there is none. Of a scorer of calls, it is the mean of its calls, and `fail` if one of them fails. */
  readonly score: Score
  /** The scores of the calls, if a scorer of calls was asked about them. */
  readonly calls?: readonly CallScore[]
}

import type { AgentRun } from '../model/agent-run.ts'
import type { Explanation } from '../model/explanation.ts'
import type { Finding } from '../model/finding.ts'
import type { Usage } from '../model/message.ts'
import type { CallScore, Evaluation, Failed, JudgeReport, ScorerLevel, Skipped } from '../model/score.ts'

/** A score that is not yet compared with range and pass mark. */
export interface ScoredVerdict {
  /** Marks the verdict as one with a score. */
  readonly status: 'scored'
  /** Within the scorer's range, in the scorer's own units. */
  readonly value: number
  /**
   * Whether the run passes, if that follows from what was found and not from the value. A `passAt` of the configuration decides by value
   * instead. @default by the scorer's own `passAt`
   */
  readonly label?: 'pass' | 'fail'
  /** The name of the value's band, in scorers with bands. */
  readonly band?: string
  /** An explanation made with `explain` marks which of its parts are content. Plain text counts as content entirely. */
  readonly explanation?: string | Explanation
  /** What the scorer found, one by one, with the places in the run. */
  readonly findings?: readonly Finding[]
  /** How many things of the kind that it looks for it found, whether they count or not: `spanscore.<id>.found`. */
  readonly found?: number
  /** More of what the scorer found, in a shape of its own. */
  readonly details?: unknown
}

/** What a scorer of calls found for one call. */
export interface CallVerdict {
  /** The index of the call in `run.toolCalls`, or in `run.retrievals`. */
  readonly index: number
  /** The score of the call, or why there is none. */
  readonly verdict: ScoredVerdict | Skipped | Failed
}

/** What a scorer of calls returns if it could look at them. */
export interface CallVerdicts {
  /** Marks the verdict as one with a score for each call. */
  readonly status: 'calls'
  /** At most one for each call. A call without one is not the scorer's matter. */
  readonly calls: readonly CallVerdict[]
}

/**
 * What a scorer's own code returns. `evaluate` checks the range, and adds the `label` if there is none. `Preprocessed` and `Analyzed` are the results
 * of the steps before the score.
 */
export type Verdict<Preprocessed = unknown, Analyzed = unknown> = (ScoredVerdict | Skipped | Failed | CallVerdicts) & {
  readonly judge?: JudgeReport
  /** Results of the steps before the score, for `.run()`. */
  readonly preprocessStepResult?: Preprocessed
  readonly analyzeStepResult?: Analyzed
}

/** Facts of a run that a scorer reads. Facts that it does not name are not parsed for it. */
export type Need =
  /** The messages that the run was given. */
  | 'input'
  /** The final answer. */
  | 'output'
  /** The system instructions of the agent. */
  | 'systemInstructions'
  /** The names of the tools that were called. */
  | 'toolNames'
  /** The arguments of tool calls. */
  | 'toolArguments'
  /** The results of tool calls. */
  | 'toolResults'
  /** The documents of retrievals. */
  | 'documents'
  /** The tools that the model was offered. */
  | 'availableTools'
  /** The model calls. */
  | 'steps'
  /** The expected answer, which is no fact of a run. */
  | 'groundTruth'

/** What is passed to a scorer beside the run. */
export interface ScoringContext {
  /** Aborts when the time for this score is over, or the process shuts down. */
  readonly signal: AbortSignal
  /** Milliseconds that all tries of this score may take together. */
  readonly timeoutMs: number
  /** In `.run()` only: input and output as they were passed, if they were passed. */
  readonly given?: GivenInput
  /** What is expected of this run, if it was passed to `.run()` or is in its case. */
  readonly expected?: ExpectedAnswer
  /** Names of tools that hand the user over to a person. @default none */
  readonly handOver?: readonly string[]
  /** Called after each judge call, for audits. */
  readonly onJudgeCall?: (call: JudgeCall) => void
}

/** What is expected of a run. */
export interface ExpectedAnswer {
  /** The expected answer, if given. */
  readonly groundTruth?: unknown
  /** The points of the expected answer, if its case has them. */
  readonly points?: readonly { readonly text: string; readonly weight: 1 | 2 }[]
}

/** The messages that were passed to `.run()`. */
export interface GivenInput {
  /** The input that was passed to `.run()`. */
  readonly input: unknown
  /** The output that was passed to `.run()`. */
  readonly output: unknown
}

/** One call of a judge: the prompt, the reply, and its cost. */
export interface JudgeCall {
  /** `Scorer.id`. */
  readonly scorerId: string
  /** `AgentRun.id`. */
  readonly runId: string
  /** 1 for the first call of this score. */
  readonly attempt: number
  /** The model that answered, by the name that the provider returned; otherwise the model that was asked. */
  readonly model: string
  /** The system message and the user message. They hold content of the run. */
  readonly prompt: { readonly instructions: string; readonly user: string }
  /** The text of the answer; absent if there was none. */
  readonly reply?: string
  /** Tokens of this call. */
  readonly usage: Usage
  /** US dollars; absent if the model's price is unknown. */
  readonly costUsd?: number
  /** Milliseconds from the request to the answer. */
  readonly durationMs: number
  /** Why there is no answer, or why it could not be used. */
  readonly error?: string
}

/** Facts about a judge that the processor needs before it calls it: its cost, and whether a key or package is missing. */
export interface ScorerJudge {
  /** `<provider>/<model>`, as configured. */
  readonly model: string
  /** Whether the price table knows the model. */
  readonly priced: boolean
  /** The options `model` and `judge` that a prebuilt scorer was created with, so that the same judge can be checked; absent in others. */
  readonly options?: { readonly model: unknown; readonly judge?: unknown }
  /** Upper estimate of the cost of one score of this run. The budget reserves it. */
  estimate(run: AgentRun): { readonly calls: number; readonly tokens: number; readonly costUsd?: number }
  /** Why no call can be made (a missing package or key) and what to do about it; `undefined` if nothing is missing. Does no I/O. */
  unavailable(): string | undefined
  /** Why the server is not asked for a while, such as a refused key, and what to do about it; `undefined` if it works. */
  trouble?(): string | undefined
  /** Loads packages that calls need, if they are there. A processor calls it once when it is created. */
  prepare?(): Promise<void>
}

/** Scores one run. Made by `createScorer` or one of the prebuilt factories. */
export interface Scorer<Preprocessed = unknown, Analyzed = unknown> {
  /** `^[a-z][a-z0-9_]*$` */
  readonly id: string
  /** One sentence about what the score means. */
  readonly description: string
  /** `code` computes its score; `judge` asks a model. */
  readonly kind: 'code' | 'judge'
  /** What its scores are about. */
  readonly level: ScorerLevel
  /** The lowest and the highest score. */
  readonly range: readonly [number, number]
  /** Whether higher or lower scores are better. */
  readonly better: 'higher' | 'lower'
  /**
   * Pass mark in the scorer's own units: a score passes if it is `>=` this, or `<=` where lower is better, unless its verdict has a label.
   */
  readonly passAt: number
  /** A hash of id, options, prompts, model and declared version: it changes if the meaning of the score changes. */
  readonly version: string
  /** Whether it runs while the agent span is ending. Such a scorer is synchronous, quick, and does no I/O. */
  readonly inline: boolean
  /** Facts of the run that the scorer reads. */
  readonly needs: readonly Need[]
  /** The judge model and the cost of a score; absent in code scorers. */
  readonly judge?: ScorerJudge
  /** Whether `handOver` can change its scores. Its names are then part of the version of a score. @default false */
  readonly readsHandOver?: boolean
  /** Judges the run. It may throw or reject, which `evaluate` turns into `failed: scorer-threw`. */
  assess(
    run: AgentRun,
    context: ScoringContext,
  ): Verdict<Preprocessed, Analyzed> | Promise<Verdict<Preprocessed, Analyzed>>
  /**
   * Scores one run, for tests, CI and scripts; a scorer of conversations is given a list of the runs of one. Rejects with a `ScoreUnavailableError` where a live run would be
   * skipped or failed.
   */
  run(
    input: ScorerInput | readonly ScorerInput[],
    options?: ScorerRunOptions,
  ): Promise<ScorerRunResult<Preprocessed, Analyzed>>
}

/** The input of `.run()`: an `AgentRun`, `{ ...run, groundTruth }`, or input and output messages. */
export type ScorerInput = (AgentRun & ExpectedAnswer) | ({ readonly runId?: string } & GivenInput & ExpectedAnswer)

/** Options of one `.run()`. */
export interface ScorerRunOptions {
  /** Ends the scoring early. @default one that aborts after `timeoutMs` */
  readonly signal?: AbortSignal
  /** Milliseconds that all tries of this score may take together. @default 20000 */
  readonly timeoutMs?: number
  /** Names of tools that hand the user over to a person. @default none */
  readonly handOver?: readonly string[]
  /** Called after each judge call, for audits. */
  readonly onJudgeCall?: (call: JudgeCall) => void
}

/** The result of `.run()`: its arguments, the score, and the results of the steps before the score. */
export interface ScorerRunResult<Preprocessed = unknown, Analyzed = unknown> {
  /** The `runId` that was passed, else the id of the run. */
  readonly runId: string
  /** The input that was passed. */
  readonly input: unknown
  /** The output that was passed. */
  readonly output: unknown
  /** In the scorer's own units; of a scorer of calls, the mean of the calls that have a score. */
  readonly score: number
  /** The scores of the calls, in a scorer of calls. */
  readonly calls?: readonly CallScore[]
  /** The explanation, if there is one. */
  readonly reason?: string
  /** What `preprocess` returned; in prebuilt scorers, what they found before they analysed the run, such as its tool calls. */
  readonly preprocessStepResult?: Preprocessed
  /** What `analyze` returned; in prebuilt scorers, what they or their judge found. */
  readonly analyzeStepResult?: Analyzed
  /** The whole result, as the processor emits it. */
  readonly evaluation: Evaluation
}

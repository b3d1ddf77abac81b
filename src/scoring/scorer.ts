import type { AgentRun } from '../model/agent-run.ts'
import type { Explanation } from '../model/explanation.ts'
import type { Usage } from '../model/message.ts'
import type { Evaluation, Failed, JudgeReport, Skipped } from '../model/score.ts'

/** A value before it is held against range and pass mark. */
export interface ScoredVerdict {
  readonly status: 'scored'
  readonly value: number
  readonly band?: string
  /** Written with `explain`, it says which of its parts are content; a plain text counts as content whole. */
  readonly explanation?: string | Explanation
  readonly details?: unknown
}

/**
 * What a scorer's own code returns; `label` and the checks of the range are added by `evaluate`. `Preprocessed` and
 * `Analyzed` are what the steps before the score gave.
 */
export type Verdict<Preprocessed = unknown, Analyzed = unknown> = (ScoredVerdict | Skipped | Failed) & {
  readonly judge?: JudgeReport
  /** Results of the steps before the score, for `.run()`. */
  readonly preprocessStepResult?: Preprocessed
  readonly analyzeStepResult?: Analyzed
}

/** Facts of a run that a scorer reads; what is not named is not parsed for it. */
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
  /** The tools that the model was offered. */
  | 'availableTools'
  /** The calls of models. */
  | 'steps'

/** What is passed to a scorer beside the run. */
export interface ScoringContext {
  /** Aborts when the time for this score is over, or the process shuts down. */
  readonly signal: AbortSignal
  /** Milliseconds that all tries of this score may take together. */
  readonly timeoutMs: number
  /** `.run()` only: input, output and expected answer as they were given. */
  readonly given?: GivenInput
  /** Called after each judge call, for audits. */
  readonly onJudgeCall?: (call: JudgeCall) => void
}

/** The message form of `.run()`, as it was given. */
export interface GivenInput {
  readonly input: unknown
  readonly output: unknown
  readonly groundTruth?: unknown
}

/** One call of a judge: what was asked, what came back, what it took. */
export interface JudgeCall {
  readonly scorerId: string
  readonly runId: string
  /** 1 for the first call of this score. */
  readonly attempt: number
  readonly model: string
  readonly prompt: { readonly instructions: string; readonly user: string }
  readonly reply?: string
  readonly usage: Usage
  readonly costUsd?: number
  readonly durationMs: number
  readonly error?: string
}

/** What the processor must know of a scorer's judge before it asks: for budgets, and to say early what is missing. */
export interface ScorerJudge {
  /** `<provider>/<model>`, as configured. */
  readonly model: string
  /** Whether the price table knows the model. */
  readonly priced: boolean
  /** Upper estimate of what one score of this run takes, for reservation. */
  estimate(run: AgentRun): { readonly calls: number; readonly tokens: number; readonly costUsd?: number }
  /** Why no call can be made (missing package or key), with what to do; `undefined` where all is there. Does no I/O. */
  unavailable(): string | undefined
}

/** Scores one run. Made by `createScorer` or one of the prebuilt factories. */
export interface Scorer<Preprocessed = unknown, Analyzed = unknown> {
  /** `^[a-z][a-z0-9_]*$` */
  readonly id: string
  readonly description: string
  readonly kind: 'code' | 'judge'
  readonly range: readonly [number, number]
  readonly better: 'higher' | 'lower'
  /** In the scorer's own units: pass is `>=`, `<=` where lower is better. */
  readonly passAt: number
  /** Changes when the scorer's meaning does: hash of id, options, prompts, model and declared version. */
  readonly version: string
  /** Whether it may run while the agent span is ending: synchronous, quick, no I/O. */
  readonly inline: boolean
  readonly needs: readonly Need[]
  readonly judge?: ScorerJudge
  /** Says what it thinks of the run; may throw or reject, which `evaluate` turns into `failed: scorer-threw`. */
  assess(
    run: AgentRun,
    context: ScoringContext,
  ): Verdict<Preprocessed, Analyzed> | Promise<Verdict<Preprocessed, Analyzed>>
  /**
   * For tests, CI and scripts: one run in, the score out. Rejects with a `ScoreUnavailableError` where a live run would be
   * skipped or failed.
   */
  run(input: ScorerInput, options?: ScorerRunOptions): Promise<ScorerRunResult<Preprocessed, Analyzed>>
}

/** What `.run()` takes: an `AgentRun`, or messages in and out. */
export type ScorerInput =
  | AgentRun
  | { readonly runId?: string; readonly input: unknown; readonly output: unknown; readonly groundTruth?: unknown }

/** How one `.run()` is done. */
export interface ScorerRunOptions {
  /** Ends the scoring early. @default one that aborts after `timeoutMs` */
  readonly signal?: AbortSignal
  /** Milliseconds that all tries of this score may take together. @default 20000 */
  readonly timeoutMs?: number
  /** Called after each judge call, for audits. */
  readonly onJudgeCall?: (call: JudgeCall) => void
}

/** What `.run()` gives: what it was given, the score, and what the steps before it found. */
export interface ScorerRunResult<Preprocessed = unknown, Analyzed = unknown> {
  readonly runId: string
  readonly input: unknown
  readonly output: unknown
  readonly score: number
  readonly reason?: string
  readonly preprocessStepResult?: Preprocessed
  readonly analyzeStepResult?: Analyzed
  readonly evaluation: Evaluation
}

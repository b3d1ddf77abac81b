import type { Explanation } from '../../model/explanation.ts'
import type { Finding } from '../../model/finding.ts'
import type { JudgeSettings } from '../../judge/settings.ts'
import type { JudgeModel } from '../../judge/transport/judge-model.ts'
import type { AgentRun, Conversation, Retrieval, ToolCall } from '../../model/agent-run.ts'
import type { Skipped } from '../../model/score.ts'
import type { Scorer } from '../../scoring/scorer.ts'

/**
 * The run in steps: an `AgentRun` whose `input` and `output` are those passed to `.run()`, in any form. In a live run they are the run's
 * own messages and text. `agentRun` in the step's context always has messages and text.
 */
export type StepRun<Input = unknown, Output = unknown> = Omit<AgentRun, 'input' | 'output'> & {
  readonly input: Input
  readonly output: Output
  /** The expected answer, if it was passed to `.run()` or is in the run's case. */
  readonly groundTruth?: unknown
}

/** What the steps of a scorer of runs are given. */
export interface RunSubject<Run = StepRun> {
  /** The run, with the input and output that were passed to `.run()`. */
  readonly run: Run
  /** The same run with `input` and `output` as in live runs: messages and text. */
  readonly agentRun: AgentRun
}

/** What the steps of a scorer of calls are given: one after the other, each call of the run. */
export interface CallSubject<Call> {
  /** The call. */
  readonly call: Call
  /** The run that made it. */
  readonly agentRun: AgentRun
}

/** What the steps of a scorer of conversations are given. */
export interface ConversationSubject {
  /** The conversation, whose runs are reduced. */
  readonly conversation: Conversation
}

/** What the steps of a scorer are given, by its level. */
export interface SubjectsByLevel<Input = unknown, Output = unknown> {
  /** One run. */
  readonly run: RunSubject<StepRun<Input, Output>>
  /** One of the run's tool calls. */
  readonly 'tool-call': CallSubject<ToolCall>
  /** One of the run's retrievals. */
  readonly retrieval: CallSubject<Retrieval>
  /** Several runs with one id of a conversation. */
  readonly conversation: ConversationSubject
}

/** The context of a step: its subject, and the results of earlier steps. */
export type StepContext<Subject, Results> = Subject & {
  /** The results of earlier steps. */
  readonly results: Results
}

/** The context of `generateReason`. */
export type ReasonContext<Subject, Results> = StepContext<Subject, Results> & {
  /** The score to explain. */
  readonly score: number
}

/** The results of the steps before the score; `undefined` for a missing step. */
export interface StepResults<Preprocessed, Analyzed> {
  /** The result of `preprocess`. */
  readonly preprocessStepResult: Preprocessed
  /** The result of `analyze`. */
  readonly analyzeStepResult: Analyzed
}

/** The model that answers prompt steps. */
export interface StepJudge extends JudgeSettings {
  /** The judge's model. */
  readonly model: JudgeModel
  /** Instructions for the judge, before the prompt of any step. */
  readonly instructions?: string
}

/** A schema of Zod, Valibot, ArkType or any other library of the Standard Schema family. */
export interface StandardSchema<Output = unknown> {
  /** What the specification asks for: https://standardschema.dev. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The shape of a judge's reply: a schema of the Standard Schema family, or JSON Schema. */
export type OutputSchema<Output> =
  | StandardSchema<Output>
  | { readonly type: string; readonly [keyword: string]: unknown }

/** The context of `createPrompt`: that of its step, and a function to quote. */
export type PromptContext<Context> = Context & {
  /**
   * Puts untrusted text (anything from the run) between lines that mark it as data. The marks are drawn for each prompt, so that the text
   * cannot forge them.
   */
  readonly quote: (text: string) => string
}

/** A step that asks the judge: its purpose, the shape of the reply, and the prompt. */
export interface PromptStep<Context, Result> {
  /** One sentence about what this step finds out. */
  readonly description: string
  /** The shape of the reply: a Zod schema, another schema of the Standard Schema family, or a JSON Schema. */
  readonly outputSchema: OutputSchema<Result>
  /** Replaces the scorer's judge. */
  readonly judge?: StepJudge
  /** Creates the prompt from the run and the results of earlier steps. */
  readonly createPrompt: (context: PromptContext<Context>) => string
}

/** Like `PromptStep`, for score and reason, whose replies have default shapes: `{ score }` and `{ reason }`. */
export interface PromptStepWithDefault<Context> extends Omit<PromptStep<Context, unknown>, 'outputSchema'> {
  /** @default `{ score: number }`, `{ reason: string }` */
  readonly outputSchema?: OutputSchema<unknown>
}

/** A function, which may be asynchronous, or a prompt for the judge. */
export type Step<Context, Result> = ((context: Context) => Result | Promise<Result>) | PromptStep<Context, Result>

/**
 * A step that returns the score: a number within the range, true or false in place of 1 and 0 if the range is from 0 to 1, or `Skipped` if
 * there is nothing to score in this run.
 */
export type ScoreStep<Context> =
  | ((context: Context) => number | boolean | Skipped | Promise<number | boolean | Skipped>)
  | PromptStepWithDefault<Context>

/** What explains a score, and what was found one by one: reports and the page show findings at their places in the run. */
export interface ReasonWithFindings {
  /** A text, or one that was made with `explain`. */
  readonly reason: string | Explanation
  /** What was found. Of a value that a judge gave, what is no finding is left out. */
  readonly findings: readonly Finding[]
}

type Reason = string | Explanation | ReasonWithFindings

/** A step that explains the score, as a string or with `explain`, and may name what it found. */
export type ReasonStep<Context> = ((context: Context) => Reason | Promise<Reason>) | PromptStepWithDefault<Context>

/** A scorer without its score step, which `generateScore` adds. */
export interface AnalyzedScorer<Subject, Preprocessed, Analyzed> {
  /** Adds the score step, which completes the scorer. */
  generateScore(
    step: ScoreStep<StepContext<Subject, StepResults<Preprocessed, Analyzed>>>,
  ): ScorerWithoutReason<Subject, Preprocessed, Analyzed>
}

/** A scorer without its score step that may still get an analysis. */
export interface PreprocessedScorer<Subject, Preprocessed> extends AnalyzedScorer<Subject, Preprocessed, undefined> {
  /** Adds a step whose result is `results.analyzeStepResult` in later steps. */
  analyze<Analyzed>(
    step: Step<StepContext<Subject, StepResults<Preprocessed, undefined>>, Analyzed>,
  ): AnalyzedScorer<Subject, Preprocessed, Analyzed>
}

/** The result of `createScorer`: a builder for steps in their order, of which only `generateScore` is required. */
export interface NewScorer<Subject> extends PreprocessedScorer<Subject, undefined> {
  /** Adds a step whose result is `results.preprocessStepResult` in later steps. */
  preprocess<Preprocessed>(
    step: Step<StepContext<Subject, StepResults<undefined, undefined>>, Preprocessed>,
  ): PreprocessedScorer<Subject, Preprocessed>
}

/** A scorer that may get an explanation. */
export interface ScorerWithoutReason<Subject, Preprocessed, Analyzed> extends Scorer<Preprocessed, Analyzed> {
  /** Adds the step that explains the score. It returns a new scorer; this one does not change. */
  generateReason(
    step: ReasonStep<ReasonContext<Subject, StepResults<Preprocessed, Analyzed>>>,
  ): Scorer<Preprocessed, Analyzed>
}

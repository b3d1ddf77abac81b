import type { Explanation } from '../../model/explanation.ts'
import type { JudgeSettings } from '../../judge/settings.ts'
import type { JudgeModel } from '../../judge/transport/judge-model.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { Skipped } from '../../model/score.ts'
import type { Scorer } from '../../scoring/scorer.ts'

/**
 * The run as steps see it: an `AgentRun`, with `input` and `output` as they were given to `.run()`, in whatever form that was.
 * In a live run they are the run's own: messages and text. `agentRun` of the step's context has messages and text always.
 */
export type StepRun<Input = unknown, Output = unknown> = Omit<AgentRun, 'input' | 'output'> & {
  readonly input: Input
  readonly output: Output
  /** The expected answer, where `.run()` was given one. */
  readonly groundTruth?: unknown
}

/** What a step is given. */
export interface StepContext<Run, Results> {
  /** The run, with input and output as `.run()` was given them. */
  readonly run: Run
  /** The same run with `input` and `output` in the one form that they have in live runs: messages and text. */
  readonly agentRun: AgentRun
  /** What the steps before gave. */
  readonly results: Results
}

/** What `generateReason` is given. */
export interface ReasonContext<Run, Results> extends StepContext<Run, Results> {
  /** The score that is to be explained. */
  readonly score: number
}

/** Results of the steps before the score; `undefined` for a step that there is not. */
export interface StepResults<Preprocessed, Analyzed> {
  /** What `preprocess` gave. */
  readonly preprocessStepResult: Preprocessed
  /** What `analyze` gave. */
  readonly analyzeStepResult: Analyzed
}

/** The model that answers prompt steps. */
export interface StepJudge extends JudgeSettings {
  /** The model that is asked. */
  readonly model: JudgeModel
  /** What the judge reads about its task, before the prompt of any step. */
  readonly instructions?: string
  /**
   * Whether a reply that leaves the control question out counts for nothing: it is asked for once more, and then the score is
   * `failed: judge-unanswered`. A wrong answer to it always is `failed: judge-compromised`.
   *
   * @default false: models that are not held to the schema may leave it out, and so do replies written for tests
   */
  readonly requireControl?: boolean
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

/** What `createPrompt` is given: the context of its step, and a way to quote. */
export type PromptContext<Context> = Context & {
  /**
   * Puts untrusted text (all that the run holds) between lines that the judge takes as data. Drawn anew for each
   * prompt, so that the text cannot close it.
   */
  readonly quote: (text: string) => string
}

/** A step that asks the judge: what it is for, what shape the reply has, and the prompt. */
export interface PromptStep<Context, Result> {
  /** One sentence: what this step finds out. */
  readonly description: string
  /** The shape of the reply: a Zod schema, another schema of the Standard Schema family, or a JSON Schema. */
  readonly outputSchema: OutputSchema<Result>
  /** Goes before the scorer's judge. */
  readonly judge?: StepJudge
  /** Makes the prompt of the run and of what the steps before found. */
  readonly createPrompt: (context: PromptContext<Context>) => string
}

/** As `PromptStep`, for score and reason, whose reply has a shape of its own: `{ score }` and `{ reason }`. */
export interface PromptStepWithDefault<Context> extends Omit<PromptStep<Context, unknown>, 'outputSchema'> {
  /** @default `{ score: number }`, `{ reason: string }` */
  readonly outputSchema?: OutputSchema<unknown>
}

/** A function, which may be asynchronous, or a prompt for the judge. */
export type Step<Context, Result> = ((context: Context) => Result | Promise<Result>) | PromptStep<Context, Result>

/** A step that gives the score: a number within the range; or `Skipped` where there is nothing to score in this run. */
export type ScoreStep<Context> =
  | ((context: Context) => number | Skipped | Promise<number | Skipped>)
  | PromptStepWithDefault<Context>

/** A step that says why the score is what it is, as a text or written with `explain`. */
export type ReasonStep<Context> =
  | ((context: Context) => string | Explanation | Promise<string | Explanation>)
  | PromptStepWithDefault<Context>

/** A scorer without its score step: `generateScore` makes it one. */
export interface AnalyzedScorer<Run, Preprocessed, Analyzed> {
  /** Adds the step that gives the score, which makes it a scorer. */
  generateScore(
    step: ScoreStep<StepContext<Run, StepResults<Preprocessed, Analyzed>>>,
  ): ScorerWithoutReason<Run, Preprocessed, Analyzed>
}

/** A scorer without its score step, to which an analysis can be added. */
export interface PreprocessedScorer<Run, Preprocessed> extends AnalyzedScorer<Run, Preprocessed, undefined> {
  /** Adds a step whose result is in `results.analyzeStepResult` of the steps after it. */
  analyze<Analyzed>(
    step: Step<StepContext<Run, StepResults<Preprocessed, undefined>>, Analyzed>,
  ): AnalyzedScorer<Run, Preprocessed, Analyzed>
}

/** What `createScorer` gives: a scorer to which all steps can be added, in their order; all but `generateScore` may be left out. */
export interface NewScorer<Run> extends PreprocessedScorer<Run, undefined> {
  /** Adds a step whose result is in `results.preprocessStepResult` of the steps after it. */
  preprocess<Preprocessed>(
    step: Step<StepContext<Run, StepResults<undefined, undefined>>, Preprocessed>,
  ): PreprocessedScorer<Run, Preprocessed>
}

/** A scorer, to which an explanation can be added. */
export interface ScorerWithoutReason<Run, Preprocessed, Analyzed> extends Scorer<Preprocessed, Analyzed> {
  /** Adds the step that explains the score: a scorer of its own, this one stays as it is. */
  generateReason(
    step: ReasonStep<ReasonContext<Run, StepResults<Preprocessed, Analyzed>>>,
  ): Scorer<Preprocessed, Analyzed>
}

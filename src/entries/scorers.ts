export { createScorer } from '../scorers/create-scorer.ts'
export type { CreateScorerOptions } from '../scorers/create-scorer.ts'
export type {
  AnalyzedScorer,
  NewScorer,
  OutputSchema,
  PreprocessedScorer,
  PromptContext,
  PromptStep,
  PromptStepWithDefault,
  ReasonContext,
  ReasonStep,
  ScoreStep,
  ScorerWithoutReason,
  StandardSchema,
  Step,
  StepContext,
  StepJudge,
  StepResults,
  StepRun,
} from '../scorers/scorer-steps.ts'
export { createToolCallAccuracyScorerCode } from '../scorers/tool-call-accuracy-code.ts'
export type {
  ToolCallAccuracyCodeOptions,
  ToolCallAccuracyPreprocess,
  ToolCallInfo,
} from '../scorers/tool-call-accuracy-code.ts'

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
export { createAnswerPresentScorer } from '../scorers/answer-present.ts'
export type { AnswerPresentOptions, NoAnswer } from '../scorers/answer-present.ts'
export type { AllowedArguments } from '../scorers/allowed-arguments.ts'
export type { ScorerOptions } from '../scorers/scorer-options.ts'
export { createHallucinatedToolScorer } from '../scorers/hallucinated-tool.ts'
export type { HallucinatedToolOptions } from '../scorers/hallucinated-tool.ts'
export type { SchemaError } from '../scorers/json-schema.ts'
export { createKeywordCoverageScorer } from '../scorers/keyword-coverage.ts'
export type { Keyword, KeywordCoverageOptions } from '../scorers/keyword-coverage.ts'
export { createLoopScorer } from '../scorers/loop.ts'
export type { Cycle, LoopOptions } from '../scorers/loop.ts'
export { createOutputFormatScorer } from '../scorers/output-format.ts'
export type { FormatCheck, OutputFormatOptions } from '../scorers/output-format.ts'
export { createRunLimitsScorer } from '../scorers/run-limits.ts'
export type { LimitCheck, RunLimitsOptions } from '../scorers/run-limits.ts'
export { createToolArgumentsScorer } from '../scorers/tool-arguments.ts'
export type { CheckedCall, ExpectedArguments, ToolArgumentsOptions } from '../scorers/tool-arguments.ts'
export { createToolErrorsScorer } from '../scorers/tool-errors.ts'
export type { FailedCall, ToolErrorsOptions } from '../scorers/tool-errors.ts'
export { createTrajectoryScorer } from '../scorers/trajectory.ts'
export type { ExpectedCall, TrajectoryDetails, TrajectoryMode, TrajectoryOptions } from '../scorers/trajectory.ts'
export { evaluate } from '../scoring/evaluate.ts'
export type { EvaluateOptions } from '../scoring/evaluate.ts'
export { ScoreUnavailableError } from '../scoring/score-unavailable-error.ts'
export type {
  GivenInput,
  ScoredVerdict,
  Scorer,
  ScorerInput,
  ScorerRunOptions,
  ScorerRunResult,
} from '../scoring/scorer.ts'
export { createToolCallAccuracyScorerCode } from '../scorers/tool-call-accuracy-code.ts'
export type { ToolCallAccuracyCodeOptions, ToolCallAccuracyPreprocess } from '../scorers/tool-call-accuracy-code.ts'
export { createAnswerRelevancyScorer } from '../scorers/answer-relevancy.ts'
export type { AnswerRelevancyAnalysis, AnswerRelevancyScorerOptions } from '../scorers/answer-relevancy.ts'
export type { ContextOption } from '../scorers/answer-material.ts'
export { createCompletenessScorer } from '../scorers/completeness.ts'
export type { CompletenessAnalysis, CompletenessScorerOptions } from '../scorers/completeness.ts'
export { createContextualRecallScorer } from '../scorers/contextual-recall.ts'
export type { ContextualRecallAnalysis, ContextualRecallScorerOptions } from '../scorers/contextual-recall.ts'
export { createFaithfulnessScorer } from '../scorers/faithfulness.ts'
export type { FaithfulnessAnalysis, FaithfulnessScorerOptions } from '../scorers/faithfulness.ts'
export { createHallucinationScorer } from '../scorers/hallucination.ts'
export type { HallucinationAnalysis, HallucinationScorerOptions } from '../scorers/hallucination.ts'
export type { ItemAnalysis, JudgedItem } from '../scorers/item-scorer.ts'
export type { JudgeScorerOptions } from '../scorers/judge-scorer.ts'
export type { JudgeSettings } from '../judge/judge.ts'
export type { JudgeModel, LanguageModelInstance, ModelConfig } from '../judge/judge-model.ts'
export { prices, pricesAsOf } from '../judge/prices.ts'
export type { Price } from '../judge/prices.ts'
export { createPromptAlignmentScorerLLM } from '../scorers/prompt-alignment.ts'
export type { AlignmentAnalysis } from '../scorers/alignment-analysis.ts'
export type { PromptAlignmentAnalysis } from '../scorers/alignment-verdict.ts'
export type { PromptAlignmentOptions, PromptAlignmentScorerOptions } from '../scorers/prompt-alignment.ts'
export { createRubricScorer } from '../scorers/rubric.ts'
export type { RubricAnalysis, RubricCriterion, RubricScorerOptions } from '../scorers/rubric.ts'
export { createSummarizationScorer } from '../scorers/summarization.ts'
export type { SummarizationOptions, SummarizationScorerOptions } from '../scorers/summarization.ts'
export { SummarizationMetric } from '../scorers/summarization-metric.ts'
export type { SummarizationMetricOptions, SummarizationMetricResult } from '../scorers/summarization-metric.ts'
export type { SummarizationAnalysis } from '../scorers/summary-judgement.ts'
export { createToolCallAccuracyScorerLLM } from '../scorers/tool-call-accuracy-llm.ts'
export type { ToolCallAccuracyLLMOptions } from '../scorers/tool-call-accuracy-llm.ts'
export type { ToolCallAccuracyAnalysis, ToolCallEvaluation } from '../scorers/tool-call-verdicts.ts'
export type { ToolCallInfo } from '../scoring/given-calls.ts'

export { createScorer } from '../scorers/create/create-scorer.ts'
export type { CreateScorerOptions } from '../scorers/create/create-scorer.ts'
export type {
  AnalyzedScorer,
  CallSubject,
  ConversationSubject,
  NewScorer,
  OutputSchema,
  PreprocessedScorer,
  PromptContext,
  PromptStep,
  PromptStepWithDefault,
  ReasonContext,
  ReasonStep,
  ReasonWithFindings,
  RunSubject,
  ScoreStep,
  ScorerWithoutReason,
  StandardSchema,
  Step,
  StepContext,
  StepJudge,
  StepResults,
  StepRun,
  SubjectsByLevel,
} from '../scorers/create/scorer-steps.ts'
export { createAbandonedScorer } from '../scorers/code/abandoned.ts'
export { createAnswerPresentScorer } from '../scorers/code/answer-present.ts'
export type { AnswerPresentOptions, NoAnswer } from '../scorers/code/answer-present.ts'
export type { AllowedArguments } from '../scorers/code/allowed-arguments.ts'
export type { LevelOption, ScorerOptions } from '../scorers/scorer-options.ts'
export { createCutOffScorer } from '../scorers/code/cut-off.ts'
export { createHallucinatedToolScorer } from '../scorers/code/hallucinated-tool.ts'
export type { HallucinatedToolOptions } from '../scorers/code/hallucinated-tool.ts'
export type { SchemaError } from '../scorers/code/schema/json-schema.ts'
export { createKeywordCoverageScorer } from '../scorers/code/keyword-coverage.ts'
export type { Keyword, KeywordCoverageOptions } from '../scorers/code/keyword-coverage.ts'
export { createLoopScorer } from '../scorers/code/loop.ts'
export type { Cycle, LoopOptions } from '../scorers/code/loop.ts'
export { createOutputFormatScorer } from '../scorers/code/output-format.ts'
export type { OutputFormatOptions } from '../scorers/code/output-format.ts'
export { createRepeatedQuestionScorer } from '../scorers/code/repeated-question.ts'
export { createRunLimitsScorer } from '../scorers/code/run-limits.ts'
export type { LimitCheck, RunLimitsOptions } from '../scorers/code/run-limits.ts'
export { createToolArgumentsScorer } from '../scorers/code/tool-arguments.ts'
export type { ExpectedArguments, ToolArgumentsOptions } from '../scorers/code/tool-arguments.ts'
export { createToolErrorsScorer } from '../scorers/code/tool-errors.ts'
export type { ToolErrorsOptions } from '../scorers/code/tool-errors.ts'
export { createToolPolicyScorer } from '../scorers/code/tool-policy.ts'
export type { ToolPolicyOptions } from '../scorers/code/tool-policy.ts'
export { createTrajectoryScorer } from '../scorers/code/trajectory.ts'
export type { ExpectedCall, TrajectoryDetails, TrajectoryMode, TrajectoryOptions } from '../scorers/code/trajectory.ts'
export { contentFree, explain } from '../model/explanation.ts'
export type { Explanation } from '../model/explanation.ts'
export { evaluate } from '../scoring/evaluate.ts'
export type { EvaluateOptions } from '../scoring/evaluate.ts'
export { ScoreUnavailableError } from '../scoring/score-unavailable-error.ts'
export type {
  ExpectedAnswer,
  GivenInput,
  ScoredVerdict,
  Scorer,
  ScorerInput,
  ScorerRunOptions,
  ScorerRunResult,
} from '../scoring/scorer.ts'
export { createToolCallAccuracyScorerCode } from '../scorers/code/tool-call-accuracy.ts'
export type { ToolCallAccuracyCodeOptions, ToolCallAccuracyPreprocess } from '../scorers/code/tool-call-accuracy.ts'
export { createToolArgumentsScorerLLM } from '../scorers/judge/tool-arguments/tool-arguments.ts'
export { createResolutionScorer } from '../scorers/judge/resolution/resolution.ts'
export type { ResolutionAnalysis, ResolutionScorerOptions } from '../scorers/judge/resolution/resolution.ts'
export { createInjectionScorer } from '../scorers/judge/injection/injection.ts'
export type { InjectionAnalysis, InjectionScorerOptions } from '../scorers/judge/injection/injection.ts'
export { createKnowledgeRetentionScorer } from '../scorers/judge/conversations/knowledge-retention.ts'
export type { KnowledgeRetentionAnalysis } from '../scorers/judge/conversations/knowledge-retention.ts'
export { createUserFrictionScorer } from '../scorers/judge/conversations/user-friction.ts'
export type {
  Friction,
  UserFrictionAnalysis,
  UserFrictionScorerOptions,
} from '../scorers/judge/conversations/user-friction.ts'
export { createAnswerCorrectnessScorer } from '../scorers/judge/answer-correctness/answer-correctness.ts'
export type { AnswerCorrectnessScorerOptions } from '../scorers/judge/answer-correctness/answer-correctness.ts'
export type { AnswerPoint } from '../scorers/judge/answer-correctness/points.ts'
export type { GroundTruthOption } from '../scorers/judge/items/contextual-recall.ts'
export { createAnswerRelevancyScorer } from '../scorers/judge/items/answer-relevancy.ts'
export type { AnswerRelevancyAnalysis, AnswerRelevancyScorerOptions } from '../scorers/judge/items/answer-relevancy.ts'
export type { ContextOption } from '../scorers/judge/items/answer-material.ts'
export { createCompletenessScorer } from '../scorers/judge/items/completeness.ts'
export type { CompletenessAnalysis, CompletenessScorerOptions } from '../scorers/judge/items/completeness.ts'
export { createRetrievalRelevanceScorer } from '../scorers/judge/retrieval/retrieval-relevance.ts'
export type {
  JudgedRetrieval,
  RetrievalRelevanceAnalysis,
  RetrievalRelevanceScorerOptions,
} from '../scorers/judge/retrieval/retrieval-relevance.ts'
export { createContextualRecallScorer } from '../scorers/judge/items/contextual-recall.ts'
export type {
  ContextualRecallAnalysis,
  ContextualRecallScorerOptions,
} from '../scorers/judge/items/contextual-recall.ts'
export type { ClaimScorerOptions } from '../scorers/judge/items/claim-scorer.ts'
export { createFaithfulnessScorer } from '../scorers/judge/items/faithfulness.ts'
export type { FaithfulnessAnalysis, FaithfulnessScorerOptions } from '../scorers/judge/items/faithfulness.ts'
export { createHallucinationScorer } from '../scorers/judge/items/hallucination.ts'
export type { HallucinationAnalysis, HallucinationScorerOptions } from '../scorers/judge/items/hallucination.ts'
export type { ItemAnalysis, JudgedItem } from '../scorers/judge/items/item-scorer.ts'
export type { JudgeScorerOptions } from '../scorers/judge/judge-scorer.ts'
export type { JudgeSettings } from '../judge/settings.ts'
export type { JudgeModel, LanguageModelInstance, ModelConfig } from '../judge/transport/judge-model.ts'
export { prices, pricesAsOf } from '../judge/transport/prices.ts'
export type { Price } from '../judge/transport/price.ts'
export { createPromptAlignmentScorerLLM } from '../scorers/judge/alignment/prompt-alignment.ts'
export type { AlignmentAnalysis } from '../scorers/judge/alignment/analysis.ts'
export type { PromptAlignmentAnalysis } from '../scorers/judge/alignment/verdict.ts'
export type {
  PromptAlignmentOptions,
  PromptAlignmentScorerOptions,
} from '../scorers/judge/alignment/prompt-alignment.ts'
export { rubrics } from '../scorers/judge/criteria.ts'
export type { ReadyCriterion, RubricCriterion } from '../scorers/judge/criteria.ts'
export { createRubricScorer } from '../scorers/judge/rubric.ts'
export type { RubricAnalysis, RubricScorerOptions } from '../scorers/judge/rubric.ts'
export { createSummarizationScorer } from '../scorers/judge/summary/summarization.ts'
export type { SummarizationOptions, SummarizationScorerOptions } from '../scorers/judge/summary/summarization.ts'
export { SummarizationMetric } from '../scorers/judge/summary/summarization-metric.ts'
export type {
  SummarizationMetricOptions,
  SummarizationMetricResult,
} from '../scorers/judge/summary/summarization-metric.ts'
export type { SummarizationAnalysis } from '../scorers/judge/summary/judgement.ts'
export { createToolCallAccuracyScorerLLM } from '../scorers/judge/tool-calls/tool-call-accuracy.ts'
export type { ToolCallAccuracyLLMOptions } from '../scorers/judge/tool-calls/tool-call-accuracy.ts'
export type { ToolCallAccuracyAnalysis, ToolCallEvaluation } from '../scorers/judge/tool-calls/verdicts.ts'
export type { ToolCallInfo } from '../scoring/given/calls.ts'

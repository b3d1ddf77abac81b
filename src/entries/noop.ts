export {
  attachNothing as attachScoring,
  UnscoredSpanProcessor as ScoringSpanProcessor,
} from '../processor/attach/noop.ts'
export { defineConfig } from '../processor/config/define-config.ts'
export { weightedMean } from '../sampling/weighted-mean.ts'
export {
  inert as ScoreUnavailableError,
  inert as SummarizationMetric,
  inert as createAnswerPresentScorer,
  inert as createAnswerRelevancyScorer,
  inert as createCompletenessScorer,
  inert as createContextualRecallScorer,
  inert as createFaithfulnessScorer,
  inert as createHallucinatedToolScorer,
  inert as createHallucinationScorer,
  inert as createKeywordCoverageScorer,
  inert as createLoopScorer,
  inert as createOutputFormatScorer,
  inert as createPromptAlignmentScorerLLM,
  inert as createRubricScorer,
  inert as createRunLimitsScorer,
  inert as createScorer,
  inert as createSummarizationScorer,
  inert as createToolArgumentsScorer,
  inert as createToolCallAccuracyScorerCode,
  inert as createToolCallAccuracyScorerLLM,
  inert as createToolErrorsScorer,
  inert as createTrajectoryScorer,
  inert as evaluate,
  inert as prices,
  inert as pricesAsOf,
} from '../processor/attach/noop.ts'

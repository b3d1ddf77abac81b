import type { Scorer } from '../scoring/scorer.ts'
import { createAbandonedScorer } from './code/abandoned.ts'
import { createAnswerPresentScorer } from './code/answer-present.ts'
import { createCutOffScorer } from './code/cut-off.ts'
import { createHallucinatedToolScorer } from './code/hallucinated-tool.ts'
import { createKeywordCoverageScorer } from './code/keyword-coverage.ts'
import { createLoopScorer } from './code/loop.ts'
import { createOutputFormatScorer } from './code/output-format.ts'
import { createRepeatedQuestionScorer } from './code/repeated-question.ts'
import { createRunLimitsScorer } from './code/run-limits.ts'
import { createToolArgumentsScorer } from './code/tool-arguments.ts'
import { createToolCallAccuracyScorerCode } from './code/tool-call-accuracy.ts'
import { createToolErrorsScorer } from './code/tool-errors.ts'
import { createToolPolicyScorer } from './code/tool-policy.ts'
import { createTrajectoryScorer } from './code/trajectory.ts'
import { createPromptAlignmentScorerLLM } from './judge/alignment/prompt-alignment.ts'
import { createKnowledgeRetentionScorer } from './judge/conversations/knowledge-retention.ts'
import { createUserFrictionScorer } from './judge/conversations/user-friction.ts'
import { createAnswerCorrectnessScorer } from './judge/answer-correctness/answer-correctness.ts'
import { createAnswerRelevancyScorer } from './judge/items/answer-relevancy.ts'
import { createCompletenessScorer } from './judge/items/completeness.ts'
import { createContextualRecallScorer } from './judge/items/contextual-recall.ts'
import { createFaithfulnessScorer } from './judge/items/faithfulness.ts'
import { createInjectionScorer } from './judge/injection/injection.ts'
import { createHallucinationScorer } from './judge/items/hallucination.ts'
import { createResolutionScorer } from './judge/resolution/resolution.ts'
import { createRetrievalRelevanceScorer } from './judge/retrieval/retrieval-relevance.ts'
import { createRubricScorer } from './judge/rubric.ts'
import { createSummarizationScorer } from './judge/summary/summarization.ts'
import { createToolArgumentsScorerLLM } from './judge/tool-arguments/tool-arguments.ts'
import { createToolCallAccuracyScorerLLM } from './judge/tool-calls/tool-call-accuracy.ts'

/** A prebuilt scorer. */
export interface PrebuiltScorer {
  /** Creates it. The factory checks the options. */
  readonly create: (options: never) => Scorer
  /** Options with which it can be created. */
  readonly example: Readonly<Record<string, unknown>>
}

const model = 'openai/gpt-5-mini'

/**
 * Every prebuilt scorer by its name, which is its default id and its name in configuration files. The service, its schema, the reference and
 * the tests take their lists from here, in this order. The types of the options are exported by `entries/scorers.ts`.
 */
export const prebuiltScorers: Readonly<Record<string, PrebuiltScorer>> = {
  tool_call_accuracy: { create: createToolCallAccuracyScorerCode, example: { expectedTool: 'tool' } },
  trajectory: { create: createTrajectoryScorer, example: { expected: ['tool'] } },
  tool_arguments: { create: createToolArgumentsScorer, example: {} },
  hallucinated_tool: { create: createHallucinatedToolScorer, example: {} },
  tool_errors: { create: createToolErrorsScorer, example: {} },
  tool_policy: { create: createToolPolicyScorer, example: { atMost: { tool: 1 } } },
  loop: { create: createLoopScorer, example: {} },
  run_limits: { create: createRunLimitsScorer, example: { maxSteps: 1 } },
  output_format: { create: createOutputFormatScorer, example: { json: true } },
  keyword_coverage: { create: createKeywordCoverageScorer, example: { keywords: ['word'] } },
  answer_present: { create: createAnswerPresentScorer, example: {} },
  cut_off: { create: createCutOffScorer, example: {} },
  repeated_question: { create: createRepeatedQuestionScorer, example: {} },
  abandoned: { create: createAbandonedScorer, example: {} },
  tool_call_accuracy_llm: { create: createToolCallAccuracyScorerLLM, example: { model } },
  tool_arguments_llm: { create: createToolArgumentsScorerLLM, example: { model } },
  prompt_alignment: { create: createPromptAlignmentScorerLLM, example: { model } },
  summarization: { create: createSummarizationScorer, example: { model } },
  answer_correctness: { create: createAnswerCorrectnessScorer, example: { model } },
  answer_relevancy: { create: createAnswerRelevancyScorer, example: { model } },
  faithfulness: { create: createFaithfulnessScorer, example: { model } },
  hallucination: { create: createHallucinationScorer, example: { model } },
  completeness: { create: createCompletenessScorer, example: { model } },
  contextual_recall: { create: createContextualRecallScorer, example: { model } },
  retrieval_relevance: { create: createRetrievalRelevanceScorer, example: { model } },
  injection: { create: createInjectionScorer, example: { model } },
  resolution: { create: createResolutionScorer, example: { model } },
  user_friction: { create: createUserFrictionScorer, example: { model } },
  knowledge_retention: { create: createKnowledgeRetentionScorer, example: { model } },
  rubric: { create: createRubricScorer, example: { model, criteria: [{ id: 'a', question: 'Is it?' }] } },
}

/**
 * Creates a prebuilt scorer from options of a file, which its factory checks.
 *
 * @throws TypeError if there is no such scorer, or the options are invalid
 */
export function createPrebuilt(name: string, options: Readonly<Record<string, unknown>>): Scorer {
  const prebuilt = Object.hasOwn(prebuiltScorers, name) ? prebuiltScorers[name] : undefined
  if (prebuilt === undefined) throw new TypeError(`Expected the name of a scorer, got ${name}.`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each factory checks its options at run time
  return prebuilt.create(options as never)
}

import * as prebuilt from 'spanscore/scorers/prebuilt'

import type { ScoringOptions } from 'spanscore/engine'

type Scorer = Exclude<ScoringOptions['scorers'][number], { readonly scorer: unknown }>

/** Creates a scorer from options of a file. The factory validates them. */
type Factory = (options: never) => unknown

/** Scorers by their name in a YAML or JSON configuration, which is the scorer's default id. */
const FACTORIES = {
  answer_present: prebuilt.createAnswerPresentScorer,
  answer_relevancy: prebuilt.createAnswerRelevancyScorer,
  completeness: prebuilt.createCompletenessScorer,
  contextual_recall: prebuilt.createContextualRecallScorer,
  faithfulness: prebuilt.createFaithfulnessScorer,
  hallucinated_tool: prebuilt.createHallucinatedToolScorer,
  hallucination: prebuilt.createHallucinationScorer,
  keyword_coverage: prebuilt.createKeywordCoverageScorer,
  loop: prebuilt.createLoopScorer,
  output_format: prebuilt.createOutputFormatScorer,
  prompt_alignment: prebuilt.createPromptAlignmentScorerLLM,
  rubric: prebuilt.createRubricScorer,
  run_limits: prebuilt.createRunLimitsScorer,
  summarization: prebuilt.createSummarizationScorer,
  tool_arguments: prebuilt.createToolArgumentsScorer,
  tool_call_accuracy: prebuilt.createToolCallAccuracyScorerCode,
  tool_call_accuracy_llm: prebuilt.createToolCallAccuracyScorerLLM,
  tool_errors: prebuilt.createToolErrorsScorer,
  trajectory: prebuilt.createTrajectoryScorer,
} as const satisfies Readonly<Record<string, Factory>>

/** Names of the prebuilt scorers. */
export type PrebuiltName = keyof typeof FACTORIES

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table above
export const PREBUILT_NAMES: readonly PrebuiltName[] = Object.keys(FACTORIES) as PrebuiltName[]

/** Code scorers that only need a recorded run. The service uses them if nothing is configured. */
export const DEFAULT_SCORERS: readonly PrebuiltName[] = [
  'answer_present',
  'hallucinated_tool',
  'loop',
  'tool_arguments',
  'tool_errors',
]

/**
 * Creates a prebuilt scorer.
 *
 * @throws TypeError if the options are invalid
 */
export function createPrebuilt(name: PrebuiltName, options: Readonly<Record<string, unknown>>): Scorer {
  const factory: unknown = FACTORIES[name]
  if (typeof factory !== 'function') throw new TypeError(`Expected the name of a scorer, got ${name}.`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each factory checks its options at run time
  return factory(options) as Scorer
}

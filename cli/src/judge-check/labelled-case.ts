import type { Scorer, ScorerInput } from '../../../src/scoring/scorer.ts'
import type { JudgeScorerOptions } from '../../../src/scorers/judge/judge-scorer.ts'
import { createKnowledgeRetentionScorer } from '../../../src/scorers/judge/conversations/knowledge-retention.ts'
import { createUserFrictionScorer } from '../../../src/scorers/judge/conversations/user-friction.ts'
import { createAnswerRelevancyScorer } from '../../../src/scorers/judge/items/answer-relevancy.ts'
import { createCompletenessScorer } from '../../../src/scorers/judge/items/completeness.ts'
import { createContextualRecallScorer } from '../../../src/scorers/judge/items/contextual-recall.ts'
import { createFaithfulnessScorer } from '../../../src/scorers/judge/items/faithfulness.ts'
import { createHallucinationScorer } from '../../../src/scorers/judge/items/hallucination.ts'
import { createPromptAlignmentScorerLLM } from '../../../src/scorers/judge/alignment/prompt-alignment.ts'
import { createResolutionScorer } from '../../../src/scorers/judge/resolution/resolution.ts'
import { createRetrievalRelevanceScorer } from '../../../src/scorers/judge/retrieval/retrieval-relevance.ts'
import { createRubricScorer } from '../../../src/scorers/judge/rubric.ts'
import type { RubricCriterion } from '../../../src/scorers/judge/rubric.ts'
import { createSummarizationScorer } from '../../../src/scorers/judge/summary/summarization.ts'
import { createToolCallAccuracyScorerLLM } from '../../../src/scorers/judge/tool-calls/tool-call-accuracy.ts'
import cases from './cases.json' with { type: 'json' }

/** A run, or the runs of a conversation, whose label is known, because it was written to be plainly right or plainly wrong. */
export interface LabelledCase {
  readonly id: string
  /** The id of the prebuilt judge scorer that is asked. */
  readonly scorer: string
  /** The language of the user's request, as ISO 639-1. */
  readonly language: string
  readonly expect: 'pass' | 'fail'
  /** Why this is the right label. */
  readonly why: string
  /** Whether the run gives orders to the judge. */
  readonly hostile?: boolean
  /** Options of the scorer that the case needs. */
  readonly options?: CaseOptions
  readonly run: ScorerInput | readonly ScorerInput[]
}

interface CaseOptions {
  readonly availableTools?: readonly { readonly name: string; readonly description: string }[]
  readonly context?: readonly string[]
  readonly source?: string
  readonly level?: 'run' | 'conversation'
  readonly criteria?: readonly RubricCriterion[]
}

/** The cases that ship with the package: at least seven for each prebuilt judge scorer, in five languages. */
export const labelledCases: readonly LabelledCase[] = cases.map((each): LabelledCase => {
  if (each.expect !== 'pass' && each.expect !== 'fail') throw new TypeError(`Expected pass or fail, got ${each.expect}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript infers a union of all texts of the file
  return each as LabelledCase
})

/** Creates the scorer of a case, which asks the given judge. */
export function scorerOf({ scorer, options = {} }: LabelledCase, judge: JudgeScorerOptions): Scorer {
  const { availableTools = [], context, source, criteria = [] } = options
  const given = context === undefined ? {} : { options: { context } }
  switch (scorer) {
    case 'tool_call_accuracy_llm':
      return createToolCallAccuracyScorerLLM({ ...judge, availableTools })
    case 'prompt_alignment':
      return createPromptAlignmentScorerLLM(judge)
    case 'summarization':
      return createSummarizationScorer({ ...judge, ...(source !== undefined && { options: { source } }) })
    case 'answer_relevancy':
      return createAnswerRelevancyScorer(judge)
    case 'faithfulness':
      return createFaithfulnessScorer({ ...judge, ...given })
    case 'hallucination':
      return createHallucinationScorer({ ...judge, ...given })
    case 'completeness':
      return createCompletenessScorer(judge)
    case 'contextual_recall':
      return createContextualRecallScorer({ ...judge, ...given })
    case 'retrieval_relevance':
      return createRetrievalRelevanceScorer(judge)
    case 'resolution':
      return createResolutionScorer({ ...judge, level: options.level ?? 'conversation' })
    case 'knowledge_retention':
      return createKnowledgeRetentionScorer(judge)
    case 'user_friction':
      return createUserFrictionScorer(judge)
    case 'rubric':
      return createRubricScorer({ ...judge, criteria })
    default:
      throw new TypeError(`Expected the id of a prebuilt judge scorer, got ${scorer}`)
  }
}

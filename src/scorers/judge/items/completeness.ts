import type { Scorer } from '../../../scoring/scorer.ts'
import { requestAndAnswer } from './answer-material.ts'
import { defineItemScorer } from './item-scorer.ts'
import type { ItemAnalysis } from './item-scorer.ts'
import { judgeKeys, readJudgeOptions } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'

/** Options of `createCompletenessScorer`. */
export type CompletenessScorerOptions = JudgeScorerOptions

/** The elements of the request, each with whether the answer covers it. */
export type CompletenessAnalysis = ItemAnalysis<'covered' | 'missing'>

/**
 * Completeness, by a judge: the share of the request's elements that the answer covers.
 *
 * Score: covered ÷ elements, two decimals; higher is better. Without elements `skipped: not-applicable`. One judge call. Mastra's scorer of
 * this name compares words by code, like `keyword_coverage`.
 *
 * @example
 * ```ts
 * const scorer = createCompletenessScorer({ model: 'openai/gpt-5-mini' })
 * const { score } = await scorer.run({ input: 'Name the capital and the population of Norway.', output: 'Oslo.' })
 * // score: 0.5
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createCompletenessScorer(options: CompletenessScorerOptions): Scorer<unknown, CompletenessAnalysis> {
  const { id = 'completeness' } = readJudgeOptions('createCompletenessScorer', options, judgeKeys)
  return defineItemScorer({
    id,
    description: 'The share of what the request asks for that the answer covers.',
    options,
    better: 'higher',
    needs: ['input', 'output'],
    role: "You judge whether an agent's answer covers all that its user asked for. Do not judge whether it is true.",
    list: {
      name: 'elements',
      prefix: 'e',
      instruction:
        "Every single thing that the user's last request asks for, one item each. Sentences that ask for nothing (data, context, a greeting) are no elements",
      question:
        '"covered" if the answer gives it, or says that there is no such thing; "missing" if it does not, or only mentions, promises or refuses it.',
    },
    counts: { covered: 1, missing: 0 },
    material: (run, context) => requestAndAnswer(run, context, id),
  })
}

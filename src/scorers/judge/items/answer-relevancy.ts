import type { Scorer } from '../../../scoring/scorer.ts'
import { requestAndAnswer } from './answer-material.ts'
import { defineItemScorer } from './item-scorer.ts'
import type { ItemAnalysis } from './item-scorer.ts'
import { judgeKeys, readJudgeOptions } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'

/** Options of `createAnswerRelevancyScorer`. */
export type AnswerRelevancyScorerOptions = JudgeScorerOptions

/** The statements of the answer, each with its relevance to the user's prompt. */
export type AnswerRelevancyAnalysis = ItemAnalysis<'relevant' | 'partial' | 'irrelevant'>

/**
 * Answer relevancy, by a judge: how much of the answer is relevant to the user's question.
 *
 * Each statement of the answer counts 1 if relevant, 0.5 if partly, 0 if irrelevant. Score: their mean, two decimals; higher is better.
 * Truth is not judged. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createAnswerRelevancyScorer({ model: 'openai/gpt-5-mini' })
 * const { score } = await scorer.run({ input: 'When was Oslo founded?', output: 'Around 1049. Oslo is cold in winter.' })
 * // score: 0.5
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createAnswerRelevancyScorer(
  options: AnswerRelevancyScorerOptions,
): Scorer<unknown, AnswerRelevancyAnalysis> {
  const { id = 'answer_relevancy' } = readJudgeOptions('createAnswerRelevancyScorer', options, judgeKeys)
  return defineItemScorer({
    id,
    description: "How much of the answer is relevant to the user's request.",
    options,
    better: 'higher',
    needs: ['input', 'output'],
    role: "You judge whether an agent's answer is about what its user asked. Do not judge whether it is true.",
    inAnswer: true,
    list: {
      name: 'statements',
      prefix: 'a',
      instruction:
        "Every single statement of the agent's answer, one item each, in words that can be understood alone. A question back to the user and a refusal are statements; greetings and offers of more help are not",
      question:
        '"relevant" if it helps to answer the request; "partial" if it only touches on what was asked; "irrelevant" if it does not bear on it. A question back is relevant if the request cannot be answered without it; a refusal is irrelevant.',
    },
    counts: { relevant: 1, partial: 0.5, irrelevant: 0 },
    material: (run, context) => requestAndAnswer(run, context, id),
  })
}

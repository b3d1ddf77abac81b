import type { Scorer } from '../../../scoring/scorer.ts'
import { defineClaimScorer } from './claim-scorer.ts'
import type { ClaimAnalysis, ClaimScorerOptions } from './claim-scorer.ts'

/** Options of `createFaithfulnessScorer`. */
export type FaithfulnessScorerOptions = ClaimScorerOptions

/** The claims of the answer, each with what the evidence says about it. */
export type FaithfulnessAnalysis = ClaimAnalysis

/**
 * Faithfulness, by a judge: the share of the answer's claims that the record supports: results of tools and retrieved documents of this run
 * and of the earlier turns in its history, what the user said, the instructions, and the given context. What the agent said earlier is no
 * evidence.
 *
 * A claim to have done something is supported only by a call that did it. Score: (supported + harmless) ÷ claims, two decimals; higher is
 * better. It fails if any claim is contradicted or not stated. If a search found nothing, no claim is supported by it. Without results, searches and
 * context, only claimed actions are judged; without any of these `skipped: not-applicable`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createFaithfulnessScorer({ model: 'openai/gpt-5-mini', options: { context: ['Oslo was founded around 1049.'] } })
 * const { score } = await scorer.run({ input: 'How old is Oslo?', output: 'Oslo was founded around 1049, by a fisherman.' })
 * // score: 0.5
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createFaithfulnessScorer(options: FaithfulnessScorerOptions): Scorer<unknown, FaithfulnessAnalysis> {
  return defineClaimScorer(
    {
      factory: 'createFaithfulnessScorer',
      id: 'faithfulness',
      description: "The share of the answer's claims that tool results, retrieved documents and context support.",
      better: 'higher',
    },
    options,
  )
}

import type { Scorer } from '../../../scoring/scorer.ts'
import type { ClaimVerdict } from './claims.ts'
import { defineClaimScorer } from './claim-scorer.ts'
import type { ClaimScorerOptions } from './claim-scorer.ts'
import type { ItemAnalysis } from './item-scorer.ts'

/** Options of `createFaithfulnessScorer`. */
export type FaithfulnessScorerOptions = ClaimScorerOptions

/** The claims of the answer, each with what the evidence says about it. */
export type FaithfulnessAnalysis = ItemAnalysis<ClaimVerdict>

/**
 * Faithfulness, by a judge: the share of the answer's claims that the tool results, the retrieved documents and the given
 * context support.
 *
 * Score: supported ÷ claims, two decimals; higher is better. It fails if a claim is contradicted, or more than one in five is not
 * stated. Without evidence or claims `skipped: not-applicable`. One judge call.
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
      counts: { supported: 1, not_stated: 0, contradicted: 0 },
    },
    options,
  )
}

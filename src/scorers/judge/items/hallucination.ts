import type { Scorer } from '../../../scoring/scorer.ts'
import type { ClaimVerdict } from './claims.ts'
import { defineClaimScorer } from './claim-scorer.ts'
import type { ClaimScorerOptions } from './claim-scorer.ts'
import type { ItemAnalysis } from './item-scorer.ts'

/** Options of `createHallucinationScorer`. */
export type HallucinationScorerOptions = ClaimScorerOptions

/** The claims of the answer, each with what the evidence says about it. */
export type HallucinationAnalysis = ItemAnalysis<ClaimVerdict>

/**
 * Hallucination, by a judge: the share of the answer's claims that the tool results and the given context contradict or do not contain.
 *
 * Score: (contradicted + not stated) ÷ claims, two decimals; lower is better. It fails if a claim is
 * contradicted, or more than one in five is not stated. The counterpart of `faithfulness`. Without evidence or claims `skipped: not-applicable`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createHallucinationScorer({ model: 'openai/gpt-5-mini', options: { context: ['Oslo was founded around 1049.'] } })
 * const { score } = await scorer.run({ input: 'How old is Oslo?', output: 'Oslo was founded in 1624.' })
 * // score: 1
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createHallucinationScorer(options: HallucinationScorerOptions): Scorer<unknown, HallucinationAnalysis> {
  return defineClaimScorer(
    {
      factory: 'createHallucinationScorer',
      id: 'hallucination',
      description:
        "The share of the answer's claims that tool results, retrieved documents and context contradict or do not hold.",
      better: 'lower',
      counts: { supported: 0, not_stated: 1, contradicted: 1 },
    },
    options,
  )
}

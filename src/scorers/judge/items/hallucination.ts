import type { Scorer } from '../../../scoring/scorer.ts'
import { defineClaimScorer } from './claim-scorer.ts'
import type { ClaimAnalysis, ClaimScorerOptions } from './claim-scorer.ts'

/** Options of `createHallucinationScorer`. */
export type HallucinationScorerOptions = ClaimScorerOptions

/** The claims of the answer, each with what the evidence says about it. */
export type HallucinationAnalysis = ClaimAnalysis

/**
 * Hallucination, by a judge: the share of the answer's claims that the record contradicts or does not contain. The record is results of tools
 * and retrieved documents of this run and of the earlier turns in its history, what the user said, the instructions, and the given context.
 * What the agent said earlier is no evidence.
 *
 * A claim to have done something is supported only by a call that did it. Score: (contradicted + not stated) ÷ claims, two decimals; lower is
 * better. It fails if any claim is contradicted or not stated. The counterpart of `faithfulness`. Without results, documents and context, only
 * claimed actions are judged; without any of these `skipped: not-applicable`. One judge call.
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
    },
    options,
  )
}

import type { Scorer } from '../../../scoring/scorer.ts'
import { defineClaimScorer } from './claim-scorer.ts'
import type { ClaimScorerOptions } from './claim-scorer.ts'
import type { ItemAnalysis } from './item-scorer.ts'

/** Options of `createFaithfulnessScorer`. */
export type FaithfulnessScorerOptions = ClaimScorerOptions

/** The claims of the answer, each with whether the evidence supports it. */
export type FaithfulnessAnalysis = ItemAnalysis<'supported' | 'unsure' | 'unsupported'>

/**
 * Faithfulness, by a judge: the share of the answer's claims that the tool results and the given context support.
 *
 * Score: supported ÷ claims, two decimals; higher is better; `unsure` counts as unsupported. Without evidence or claims `skipped:
 * not-applicable`. One judge call.
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
      description: "The share of the answer's claims that tool results and context support.",
      better: 'higher',
      role: "You check the claims of an agent's answer against the evidence, and against nothing else: what you know yourself does not count.",
      question:
        '"supported" if the evidence says so or it follows from it; "unsure" if the evidence can be read either way; "unsupported" if the evidence says otherwise or does not hold it, even where you know it to be true.',
      counts: { supported: 1, unsure: 0, unsupported: 0 },
    },
    options,
  )
}

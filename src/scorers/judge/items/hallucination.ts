import type { Scorer } from '../../../scoring/scorer.ts'
import { answerAndEvidence, expectContext } from './answer-material.ts'
import type { ContextOption } from './answer-material.ts'
import { defineItemScorer } from './item-scorer.ts'
import type { ItemAnalysis } from './item-scorer.ts'
import { judgeKeys, readJudgeOptions } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'

/** Options of `createHallucinationScorer`. */
export interface HallucinationScorerOptions extends JudgeScorerOptions {
  readonly options?: {
    /** What the answer may lean on beside the run's tool results. */
    readonly context?: ContextOption
  }
}

const KNOWN: KeysOf<HallucinationScorerOptions> = { ...judgeKeys, options: true }

/** The claims of the answer, each with what the evidence says of it. */
export type HallucinationAnalysis = ItemAnalysis<'supported' | 'not_stated' | 'contradicted'>

/**
 * Hallucination, by a judge: the share of the answer's claims that the tool results, and the context that was given, contradict
 * or do not hold.
 *
 * Score: (contradicted + not stated) ÷ claims, two decimals; lower is better, pass is at most .3. The other side of
 * `faithfulness`, which also tells contradiction and silence apart. Without evidence, or without claims:
 * `skipped: not-applicable`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createHallucinationScorer({ model: 'openai/gpt-5-mini', options: { context: ['Oslo was founded around 1049.'] } })
 * const { score } = await scorer.run({ input: 'How old is Oslo?', output: 'Oslo was founded in 1624.' })
 * // score: 1
 * ```
 *
 * @throws TypeError where the model or an option is wrong or not known
 */
export function createHallucinationScorer(options: HallucinationScorerOptions): Scorer<unknown, HallucinationAnalysis> {
  const factory = 'createHallucinationScorer'
  const { id = 'hallucination', options: more = {} } = readJudgeOptions(factory, options, KNOWN)
  const { context: given } = readOptions(`${factory} options`, more, { context: true })
  expectContext(factory, given)
  return defineItemScorer({
    id,
    description: "The share of the answer's claims that tool results and context contradict or do not hold.",
    options,
    better: 'lower',
    needs: ['output', 'toolNames', 'toolResults'],
    identity: { context: given },
    role: "You look for invented facts in an agent's answer: claims that the evidence contradicts or does not hold. What you know yourself does not count.",
    list: {
      name: 'claims',
      prefix: 'c',
      from: "the agent's answer",
      instruction:
        "Every single factual claim that the agent's answer makes, in words that can be understood alone, one item each; opinions, advice, questions and offers of help are no claims",
      question:
        '"supported" if the evidence says so or it follows from it; "not_stated" if the evidence does not hold it, even where you know it to be true; "contradicted" if the evidence says otherwise.',
    },
    counts: { supported: 0, not_stated: 1, contradicted: 1 },
    material: (run, context) => answerAndEvidence(run, context, id, given),
  })
}

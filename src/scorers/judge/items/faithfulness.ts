import type { Scorer } from '../../../scoring/scorer.ts'
import { answerAndEvidence, expectContext } from './answer-material.ts'
import type { ContextOption } from './answer-material.ts'
import { defineItemScorer } from './item-scorer.ts'
import type { ItemAnalysis } from './item-scorer.ts'
import { judgeKeys, readJudgeOptions } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'

/** Options of `createFaithfulnessScorer`. */
export interface FaithfulnessScorerOptions extends JudgeScorerOptions {
  readonly options?: {
    /** What the answer may lean on beside the run's tool results. */
    readonly context?: ContextOption
  }
}

const KNOWN: KeysOf<FaithfulnessScorerOptions> = { ...judgeKeys, options: true }

/** The claims of the answer, each with whether the evidence holds it. */
export type FaithfulnessAnalysis = ItemAnalysis<'supported' | 'unsure' | 'unsupported'>

/**
 * Faithfulness, by a judge: the share of the answer's claims that the tool results, and the context that was given, support.
 *
 * Score: supported ÷ claims, two decimals, higher is better; `unsure` is not supported. Without evidence, or without claims:
 * `skipped: not-applicable`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createFaithfulnessScorer({ model: 'openai/gpt-5-mini', options: { context: ['Oslo was founded around 1049.'] } })
 * const { score } = await scorer.run({ input: 'How old is Oslo?', output: 'Oslo was founded around 1049, by a fisherman.' })
 * // score: 0.5
 * ```
 *
 * @throws TypeError where the model or an option is wrong or not known
 */
export function createFaithfulnessScorer(options: FaithfulnessScorerOptions): Scorer<unknown, FaithfulnessAnalysis> {
  const factory = 'createFaithfulnessScorer'
  const { id = 'faithfulness', options: more = {} } = readJudgeOptions(factory, options, KNOWN)
  const { context: given } = readOptions(`${factory} options`, more, { context: true })
  expectContext(factory, given)
  return defineItemScorer({
    id,
    description: "The share of the answer's claims that tool results and context support.",
    options,
    better: 'higher',
    needs: ['output', 'toolNames', 'toolResults'],
    identity: { context: given },
    role: "You check the claims of an agent's answer against the evidence, and against nothing else: what you know yourself does not count.",
    list: {
      name: 'claims',
      prefix: 'c',
      from: "the agent's answer",
      instruction:
        "Every single factual claim that the agent's answer makes, in words that can be understood alone, one item each; opinions, advice, questions and offers of help are no claims",
      question:
        '"supported" if the evidence says so or it follows from it; "unsure" if the evidence can be read either way; "unsupported" if the evidence says otherwise or does not hold it, even where you know it to be true.',
    },
    counts: { supported: 1, unsure: 0, unsupported: 0 },
    material: (run, context) => answerAndEvidence(run, context, id, given),
  })
}

import type { Scorer } from '../../../scoring/scorer.ts'
import { readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { judgeKeys, readJudgeOptions } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { answerAndEvidence, expectContext } from './answer-material.ts'
import type { ContextOption } from './answer-material.ts'
import { defineItemScorer } from './item-scorer.ts'
import type { ItemAnalysis, ItemScorerDefinition } from './item-scorer.ts'

/** Options of a scorer that checks the claims of an answer. */
export interface ClaimScorerOptions extends JudgeScorerOptions {
  /** What the claims are compared with. */
  readonly options?: {
    /** Additional evidence, besides the run's tool results. */
    readonly context?: ContextOption
  }
}

const KNOWN: KeysOf<ClaimScorerOptions> = { ...judgeKeys, options: true }

/** The question about each claim, and the values of its verdicts. */
export interface ClaimScorerDefinition<V extends string> extends Pick<
  ItemScorerDefinition<V>,
  'id' | 'description' | 'better' | 'role' | 'counts'
> {
  /** The factory, for messages. */
  readonly factory: string
  /** What each verdict means. */
  readonly question: string
}

/** Creates a scorer that checks every claim of the answer against the tool results and the given context. */
export function defineClaimScorer<V extends string>(
  definition: ClaimScorerDefinition<V>,
  options: ClaimScorerOptions,
): Scorer<unknown, ItemAnalysis<V>> {
  const { factory, question, ...rest } = definition
  const { id = rest.id, options: more = {} } = readJudgeOptions(factory, options, KNOWN)
  const { context: given } = readOptions(`${factory} options`, more, { context: true })
  expectContext(factory, given)
  return defineItemScorer({
    ...rest,
    id,
    options,
    needs: ['output', 'toolNames', 'toolResults'],
    identity: { context: given },
    list: {
      name: 'claims',
      prefix: 'c',
      from: "the agent's answer",
      instruction:
        "Every single factual claim that the agent's answer makes, in words that can be understood alone, one item each; opinions, advice, questions and offers of help are no claims",
      question,
    },
    material: (run, context) => answerAndEvidence(run, context, id, given),
  })
}

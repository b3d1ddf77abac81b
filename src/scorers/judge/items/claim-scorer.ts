import type { Scorer } from '../../../scoring/scorer.ts'
import { readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { judgeKeys, readJudgeOptions } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { answerAndEvidence, expectContext } from './answer-material.ts'
import type { ContextOption } from './answer-material.ts'
import { claimInstruction, claimQuestion, labelOfClaims } from './claims.ts'
import type { ClaimVerdict } from './claims.ts'
import { defineItemScorer } from './item-scorer.ts'
import type { ItemAnalysis, ItemScorerDefinition } from './item-scorer.ts'

/** Options of a scorer that checks the claims of an answer. */
export interface ClaimScorerOptions extends JudgeScorerOptions {
  /** What the claims are compared with. */
  readonly options?: {
    /** Additional evidence, besides the run's tool results and retrieved documents. */
    readonly context?: ContextOption
  }
}

const KNOWN: KeysOf<ClaimScorerOptions> = { ...judgeKeys, options: true }

/** The values of the verdicts. */
export interface ClaimScorerDefinition extends Pick<
  ItemScorerDefinition<ClaimVerdict>,
  'id' | 'description' | 'better' | 'counts'
> {
  /** The factory, for messages. */
  readonly factory: string
}

const role =
  "You check the claims of an agent's answer against the evidence, and against nothing else: what you know yourself does not count."

/** Creates a scorer that checks every claim of the answer against the tool results, the retrieved documents and the given context. */
export function defineClaimScorer(
  definition: ClaimScorerDefinition,
  options: ClaimScorerOptions,
): Scorer<unknown, ItemAnalysis<ClaimVerdict>> {
  const { factory, ...rest } = definition
  const { id = rest.id, options: more = {} } = readJudgeOptions(factory, options, KNOWN)
  const { context: given } = readOptions(`${factory} options`, more, { context: true })
  expectContext(factory, given)
  return defineItemScorer({
    ...rest,
    id,
    role,
    labelOf: labelOfClaims,
    options,
    needs: ['output', 'toolNames', 'toolResults', 'documents'],
    identity: { context: given },
    inAnswer: true,
    list: {
      name: 'claims',
      prefix: 'c',
      instruction: claimInstruction("the agent's answer"),
      question: claimQuestion('the evidence'),
    },
    material: (run, context) => answerAndEvidence(run, context, id, given),
  })
}

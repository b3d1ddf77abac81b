import { contentFree } from '../../../model/explanation.ts'
import { mainSection } from '../../../judge/prompt/render-run.ts'
import type { AgentRun } from '../../../model/agent-run.ts'
import type { Skipped } from '../../../model/score.ts'
import type { Scorer, ScoringContext } from '../../../scoring/scorer.ts'
import { evidenceOf, expectContext } from './answer-material.ts'
import type { ContextOption } from './answer-material.ts'
import { defineItemScorer } from './item-scorer.ts'
import type { ItemAnalysis } from './item-scorer.ts'
import { judgeKeys, readJudgeOptions } from '../judge-scorer.ts'
import type { JudgeScorerOptions } from '../judge-scorer.ts'
import { expectReturned } from '../../expect-returned.ts'
import { expectOption, isTextOrNone, readOptions } from '../../read-options.ts'
import type { KeysOf } from '../../read-options.ts'
import { skip } from '../../skip.ts'

/** Options of `createContextualRecallScorer`. */
export interface ContextualRecallScorerOptions extends JudgeScorerOptions {
  /** What the scorer compares. */
  readonly options?: GroundTruthOption & {
    /** What was retrieved, besides the run's tool results and documents. */
    readonly context?: ContextOption
  }
}

/** The option of scorers that compare with an expected answer. */
export interface GroundTruthOption {
  /** The expected answer, or a function that returns it for each run. `.run({ groundTruth })` takes precedence. */
  readonly groundTruth?: string | ((run: AgentRun) => string | undefined)
}

const KNOWN: KeysOf<ContextualRecallScorerOptions> = { ...judgeKeys, options: true }

/** The statements of the expected answer, each with whether the context supports it. */
export type ContextualRecallAnalysis = ItemAnalysis<'supported' | 'unsupported'>

/**
 * Contextual recall, by a judge: the share of the expected answer that the retrieved texts support.
 *
 * Score: supported ÷ statements of the expected answer, two decimals; higher is better. It measures the retrieval, not the agent's answer.
 * Without an expected answer, context or statements `skipped: not-applicable`. One judge call.
 *
 * @example
 * ```ts
 * const scorer = createContextualRecallScorer({ model: 'openai/gpt-5-mini', options: { context: ['Oslo lies in Norway.'] } })
 * const { score } = await scorer.run({
 *   input: 'Where is Oslo, and how old is it?',
 *   output: 'In Norway.',
 *   groundTruth: 'Oslo lies in Norway and was founded around 1049.',
 * })
 * // score: 0.5
 * ```
 *
 * @throws TypeError if the model or an option is invalid or unknown
 */
export function createContextualRecallScorer(
  options: ContextualRecallScorerOptions,
): Scorer<unknown, ContextualRecallAnalysis> {
  const factory = 'createContextualRecallScorer'
  const { id = 'contextual_recall', options: more = {} } = readJudgeOptions(factory, options, KNOWN)
  const { context: given, groundTruth } = readOptions(`${factory} options`, more, { context: true, groundTruth: true })
  expectContext(factory, given)
  expectGroundTruth(factory, groundTruth)
  return defineItemScorer({
    id,
    description: 'The share of the expected answer that the retrieved context supports.',
    options,
    better: 'higher',
    needs: ['toolNames', 'toolResults', 'documents', 'groundTruth'],
    identity: { context: given, groundTruth },
    role: 'You check whether the evidence that an agent gathered holds what the expected answer needs. What you know yourself does not count.',
    list: {
      name: 'statements',
      prefix: 'r',
      instruction:
        'Every single statement of the expected answer, one fact each, in words that can be understood alone',
      question:
        '"supported" if the evidence says so, in whatever words, or it follows from it; "unsupported" if the evidence says otherwise or does not say it, even where you know it to be true.',
    },
    counts: { supported: 1, unsupported: 0 },
    material: (run, context) => {
      const expected = expectedAnswer(run, context, id, groundTruth)
      if (typeof expected !== 'string') return expected
      const evidence = evidenceOf(run, id, given)
      return 'status' in evidence ? evidence : [...evidence, mainSection('the expected answer', expected)]
    },
  })
}

/** @throws TypeError if the option is neither a text nor a function */
export function expectGroundTruth(factory: string, groundTruth: unknown): void {
  const isAnswer = isTextOrNone(groundTruth) || typeof groundTruth === 'function'
  expectOption(isAnswer, factory, 'options.groundTruth to be a string, or a function', groundTruth)
}

/** The expected answer of a run, or why none is known. */
export function expectedAnswer(
  run: AgentRun,
  context: ScoringContext | undefined,
  id: string,
  groundTruth: GroundTruthOption['groundTruth'],
): string | Skipped {
  const own = context?.expected?.groundTruth
  const expected =
    typeof own === 'string'
      ? own
      : typeof groundTruth === 'function'
        ? expectReturned(groundTruth(run), id, 'options.groundTruth to be a string', isTextOrNone)
        : groundTruth
  if (expected !== undefined && expected.trim() !== '') return expected
  return skip(
    'not-applicable',
    contentFree(
      `${id}: no expected answer is known. Pass groundTruth to .run(), cases with it to spanscore score (--cases), or set options.groundTruth, a text or a function of the run.`,
    ),
  )
}

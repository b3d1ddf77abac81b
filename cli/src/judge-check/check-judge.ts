import pMap from 'p-map'
import type { Evaluation } from '../../../src/model/score.ts'
import { toScorerInput } from '../../../src/scoring/given/scorer-input.ts'
import { ScoreUnavailableError } from '../../../src/scoring/score-unavailable-error.ts'
import type { JudgeScorerOptions } from '../../../src/scorers/judge/judge-scorer.ts'
import { scorerOf } from './labelled-case.ts'
import type { LabelledCase } from './labelled-case.ts'

/** What a judge said of one case. */
export interface CheckedCase {
  readonly case: LabelledCase
  /** Absent if the case was not asked, because the cost had reached its cap. */
  readonly evaluation?: Evaluation
  readonly outcome: 'right' | 'wrong' | 'no-score' | 'not-asked'
}

/** Settings of `checkJudge`. */
export interface CheckSettings {
  /** No further case is asked once the known cost has reached this, in US dollars. */
  readonly maxCostUsd: number
  /** Milliseconds that one score may take. */
  readonly timeoutMs: number
  /** Cases that are asked at the same time. */
  readonly concurrency: number
  /** Called after each case. */
  readonly onCase?: (done: number) => void
}

/** An upper estimate of the cost of all cases. `costUsd` is absent if the price of the model is not known. */
export interface CheckEstimate {
  readonly calls: number
  readonly tokens: number
  readonly costUsd?: number
}

/** Asks a judge about each case, and compares the labels of its scores with the known ones. The order of the cases is kept. */
export async function checkJudge(
  cases: readonly LabelledCase[],
  judge: JudgeScorerOptions,
  { maxCostUsd, timeoutMs, concurrency, onCase }: CheckSettings,
): Promise<readonly CheckedCase[]> {
  let spentUsd = 0
  let done = 0
  return pMap(
    cases,
    async (each): Promise<CheckedCase> => {
      if (spentUsd >= maxCostUsd) return { case: each, outcome: 'not-asked' }
      const evaluation = await ask(each, judge, timeoutMs)
      spentUsd += evaluation.judge?.costUsd ?? 0
      onCase?.(++done)
      const { score } = evaluation
      if (score.status !== 'scored') return { case: each, evaluation, outcome: 'no-score' }
      return { case: each, evaluation, outcome: score.label === each.expect ? 'right' : 'wrong' }
    },
    { concurrency },
  )
}

/** Adds up what the cases cost at most, by the estimates that the budget of a processor uses too. */
export function estimateCheck(cases: readonly LabelledCase[], judge: JudgeScorerOptions): CheckEstimate {
  let calls = 0
  let tokens = 0
  let costUsd: number | undefined = 0
  for (const each of cases) {
    const scorer = scorerOf(each, judge)
    const estimate = scorer.judge?.estimate(toScorerInput(scorer, each.run).run)
    calls += estimate?.calls ?? 0
    tokens += estimate?.tokens ?? 0
    costUsd = costUsd === undefined || estimate?.costUsd === undefined ? undefined : costUsd + estimate.costUsd
  }
  return { calls, tokens, ...(costUsd !== undefined && { costUsd }) }
}

async function ask(each: LabelledCase, judge: JudgeScorerOptions, timeoutMs: number): Promise<Evaluation> {
  try {
    return (await scorerOf(each, judge).run(each.run, { timeoutMs })).evaluation
  } catch (error) {
    if (error instanceof ScoreUnavailableError) return error.evaluation
    throw error
  }
}

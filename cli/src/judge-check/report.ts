import type { Evaluation } from '../../../src/model/score.ts'
import type { Paint } from '../output.ts'
import { JudgeUse } from '../score/judge-use.ts'
import { safeLine } from '../text.ts'
import type { CheckedCase } from './check-judge.ts'
import type { CheckVerdict } from './check-verdict.ts'

/** The counts of one scorer. */
export interface ScorerCheck {
  readonly scorer: string
  readonly right: number
  readonly wrong: number
  readonly noScore: number
  readonly notAsked: number
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** US dollars for a thousand runs like those of the cases; absent if the price of the model is not known. */
  readonly costPer1000Usd?: number
}

/** Counts outcomes, calls, tokens and cost by scorer, in the order of the cases. */
export function countByScorer(checked: readonly CheckedCase[]): readonly ScorerCheck[] {
  const groups = Map.groupBy(checked, (each) => each.case.scorer)
  return [...groups].map(([scorer, own]) => {
    const count = (outcome: CheckedCase['outcome']): number => own.filter((each) => each.outcome === outcome).length
    const reports = own.flatMap(({ evaluation }) => evaluation?.judge ?? [])
    const costs = reports.flatMap(({ costUsd }) => costUsd ?? [])
    return {
      scorer,
      right: count('right'),
      wrong: count('wrong'),
      noScore: count('no-score'),
      notAsked: count('not-asked'),
      calls: sum(reports.map(({ calls }) => calls)),
      inputTokens: sum(reports.map(({ usage }) => usage.inputTokens)),
      outputTokens: sum(reports.map(({ usage }) => usage.outputTokens)),
      ...(costs.length > 0 &&
        costs.length === reports.length && { costPer1000Usd: (1000 * sum(costs)) / costs.length }),
    }
  })
}

function sum(values: readonly (number | undefined)[]): number {
  return values.reduce<number>((all, one) => all + (one ?? 0), 0)
}

/** The report for people: a line for each scorer, each case that the judge got wrong, and the verdict. */
export function renderReport(
  model: string,
  checked: readonly CheckedCase[],
  verdict: CheckVerdict,
  paint: Paint,
): string {
  const use = new JudgeUse()
  for (const { evaluation } of checked) if (evaluation !== undefined) use.add(evaluation)
  const colour = verdict.kind === 'reliable' ? 'green' : verdict.kind === 'mixed' ? 'yellow' : 'red'
  const missed = checked.filter(({ outcome }) => outcome === 'wrong' || outcome === 'no-score')
  const lines = [
    paint('bold', safeLine(model)),
    ...countByScorer(checked).map((counts) => scorerLine(counts, paint)),
    ...(missed.length > 0 ? ['', paint('bold', 'Cases that it got wrong, or that have no score')] : []),
    ...missed.flatMap((each) => caseLines(each, paint)),
    '',
    use.describe(),
    paint(colour, paint('bold', verdict.text)),
  ]
  return `${lines.join('\n')}\n`
}

function scorerLine(counts: ScorerCheck, paint: Paint): string {
  const { scorer, right, wrong, noScore, notAsked, calls, inputTokens, outputTokens, costPer1000Usd } = counts
  const all = right + wrong + noScore
  const parts = [
    `${right} of ${all}`.padEnd(8),
    noScore === 0 ? '' : `${noScore} without a score`,
    notAsked === 0 ? '' : `${notAsked} not asked`,
    `${calls} calls`,
    `${inputTokens.toLocaleString('en')} + ${outputTokens.toLocaleString('en')} tokens`,
    costPer1000Usd === undefined ? '' : `$${costPer1000Usd.toFixed(2)} for 1,000 runs`,
  ]
  const sign = right === all ? paint('green', '✓') : paint('yellow', '!')
  return `${sign} ${scorer.padEnd(24)}${parts.filter((part) => part !== '').join('  ')}`
}

function caseLines({ case: each, evaluation, outcome }: CheckedCase, paint: Paint): readonly string[] {
  const hostile = each.hostile === true ? ', gives orders to the judge' : ''
  return [
    `${paint('red', '✗')} ${paint('bold', each.id)} (${each.scorer}, ${each.language}${hostile})`,
    ...(outcome === 'wrong' ? [`    Right is ${each.expect}: ${each.why}`] : []),
    ...(evaluation === undefined ? [] : [`    The judge: ${safeLine(saidOf(evaluation))}`]),
  ]
}

function saidOf({ score }: Evaluation): string {
  if (score.status === 'skipped') return `skipped, ${score.reason}: ${score.message ?? ''}`
  if (score.status === 'failed') return `failed, ${score.code}: ${score.message}`
  return `${score.label}, ${score.value}. ${score.explanation ?? ''}`
}

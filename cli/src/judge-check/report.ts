import type { Evaluation } from '../../../src/model/score.ts'
import type { Paint } from '../output.ts'
import { JudgeUse } from '../score/judge-use.ts'
import { barOf, shareText } from '../shares.ts'
import { hanging, safeLine } from '../text.ts'
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

/** The report for people: the verdict, a line for each scorer, the worst first, each case that the judge got wrong, and the verdict again. */
export function renderReport(
  model: string,
  checked: readonly CheckedCase[],
  verdict: CheckVerdict,
  { columns, paint }: { readonly columns: number | undefined; readonly paint: Paint },
): string {
  const use = new JudgeUse()
  for (const { evaluation } of checked) if (evaluation !== undefined) use.add(evaluation)
  const colour = verdict.kind === 'reliable' ? 'green' : verdict.kind === 'mixed' ? 'yellow' : 'red'
  const missed = checked.filter(({ outcome }) => outcome === 'wrong' || outcome === 'no-score')
  const conclusion = hanging('', verdict.text, columns)
    .split('\n')
    .map((line) => paint(colour, paint('bold', line)))
  const scorers = countByScorer(checked).toSorted((left, right) => rightShare(left) - rightShare(right))
  const lines = [
    paint('bold', safeLine(model)),
    ...conclusion,
    '',
    paint('dim', HEADING),
    ...scorers.flatMap((counts) => scorerLines(counts, paint)),
    ...(missed.length > 0 ? ['', paint('bold', 'Cases that it got wrong, or that have no score')] : []),
    ...missed.flatMap((each) => caseLines(each, columns, paint)),
    '',
    hanging('', use.describe(), columns),
    ...conclusion,
  ]
  return `${lines.join('\n')}\n`
}

const HEADING = `  ${'scorer'.padEnd(24)}${'right'.padStart(5)}${' '.repeat(9)}${'cases'.padStart(9)}${'tokens'.padStart(17)}${'USD/1,000'.padStart(11)}`
const BAR = 8

/** The share of right labels; 1 if no case was asked. */
function rightShare({ right, wrong, noScore }: ScorerCheck): number {
  const all = right + wrong + noScore
  return all === 0 ? 1 : right / all
}

function scorerLines(counts: ScorerCheck, paint: Paint): readonly string[] {
  const { scorer, right, wrong, noScore, notAsked, inputTokens, outputTokens, costPer1000Usd } = counts
  const all = right + wrong + noScore
  const share = rightShare(counts)
  const tokens = `${inputTokens.toLocaleString('en')} + ${outputTokens.toLocaleString('en')}`
  const cost = costPer1000Usd === undefined ? '' : costPer1000Usd.toFixed(2)
  const bar = all === 0 ? ' '.repeat(BAR) : paint(share === 1 ? 'green' : 'yellow', barOf(share, BAR))
  const figures = `${`${right} of ${all}`.padStart(9)}${tokens.padStart(17)}${cost.padStart(11)}`
  const absent = [
    ...(noScore === 0 ? [] : [`${noScore} without a score`]),
    ...(notAsked === 0 ? [] : [`${notAsked} not asked`]),
  ]
  const percent = all === 0 ? '–' : shareText(share)
  return [
    `  ${scorer.padEnd(24)}${percent.padStart(5)} ${bar}${figures}`.trimEnd(),
    ...(absent.length === 0 ? [] : [`    ${absent.join(', ')}`]),
  ]
}

function caseLines(
  { case: each, evaluation, outcome }: CheckedCase,
  columns: number | undefined,
  paint: Paint,
): readonly string[] {
  const hostile = each.hostile === true ? ', gives orders to the judge' : ''
  return [
    `  ${paint('bold', each.id)} (${each.scorer}, ${each.language}${hostile})`,
    ...(outcome === 'wrong' ? [hanging('    ', `Right is ${each.expect}: ${each.why}`, columns)] : []),
    ...(evaluation === undefined ? [] : [hanging('    ', `The judge: ${saidOf(evaluation)}`, columns)]),
  ]
}

function saidOf({ score }: Evaluation): string {
  if (score.status === 'skipped') return `skipped, ${score.reason}: ${score.message ?? ''}`
  if (score.status === 'failed') return `failed, ${score.code}: ${score.message}`
  return `${score.label}, ${score.value}. ${score.explanation ?? ''}`
}

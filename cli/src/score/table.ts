import type { Paint } from '../output.ts'
import { barOf, shareText } from '../shares.ts'
import { columnsOf, cutLine, hanging, safeLine, wrap } from '../text.ts'
import type { BaselineComparison } from './baseline.ts'
import { changeText, everyTry } from './changes.ts'
import type { FailingInCommon } from './failing-in-common.ts'
import { isUnchecked } from './gates.ts'
import type { GateResult } from './gates.ts'
import { numberText, signed } from './number-text.ts'
import type { Tally, TallyRow, WorstRun } from './tally.ts'

/** How a table is drawn. */
export interface TableStyle {
  readonly columns: number
  readonly paint: Paint
}

const MAX_REASON_LINES = 6

/** The rows, worst first: agents by the largest share of failing runs of a scorer, and the scorers of an agent by theirs. */
export function worstFirst(rows: readonly TallyRow[]): readonly TallyRow[] {
  const byAgent = [...Map.groupBy(rows, ({ agent }) => agent).values()].map((own) =>
    own.toSorted((left, right) => failingShare(right.tally) - failingShare(left.tally)),
  )
  return byAgent.toSorted((left, right) => largestShare(right) - largestShare(left)).flat()
}

function largestShare([first]: readonly TallyRow[]): number {
  return first === undefined ? -1 : failingShare(first.tally)
}

/** 0 to 1; -1 if nothing was scored. */
function failingShare({ scored, passed }: Tally): number {
  return scored === 0 ? -1 : 1 - passed / scored
}

/** Renders the scores by agent and scorer: share that fails, number of runs, mean with its interval. */
export function renderScores(rows: readonly TallyRow[], { columns, paint }: TableStyle): string {
  const lines = toLines([HEADING, ...rows.map(({ tally }) => toCells(tally))], columns)
  const hasLower = rows.some(({ tally }) => tally.scorer.better === 'lower')
  const body = rows.flatMap(({ agent, tally }, index) => {
    const { before = '', bar = '', after = '' } = lines[index + 1] ?? {}
    const line = `${before}${paint('yellow', bar)}${after}`.trimEnd()
    const shown = tally.scored === 0 ? paint('dim', line) : line
    return rows[index - 1]?.agent === agent ? [shown] : [paint('bold', cutLine(agent, columns)), shown]
  })
  const heading = lines.slice(0, 1).map(({ before, bar, after }) => paint('dim', `${before}${bar}${after}`.trimEnd()))
  return [...heading, ...body, ...(hasLower ? [paint('dim', '  ↓ lower is better')] : [])].join('\n')
}

/** `retrieval_relevance (calls)`: what is counted, if it is not runs. */
function nameOf({ scorer, units }: Tally): string {
  return units === 'runs' ? scorer.id : `${scorer.id} (${units})`
}

/** The cells of a line; `share` decides the bar behind the cell of the failing share. */
interface Cells {
  readonly texts: readonly string[]
  readonly share?: number
}

const HEADING: Cells = { texts: ['scorer', 'failing', 'scored', 'mean', '95 % interval', 'not scored'] }
const INTERVAL = 4
const NOT_SCORED = 5
const WIDEST_BAR = 10
const NARROWEST_NAME = 16

function toCells(tally: Tally): Cells {
  const found = tally.mean()
  const name = nameOf(tally)
  const share = failingShare(tally)
  const texts = [
    tally.scorer.better === 'lower' ? `${name} ↓` : name,
    tally.scored === 0 ? '–' : shareText(share),
    tally.scored.toLocaleString('en'),
    found === undefined ? '' : found.mean.toFixed(2),
    found === undefined ? '' : found.interval95.map((end) => end.toFixed(2)).join(' to '),
    tally.unscored === 0 ? '' : tally.unscored.toLocaleString('en'),
  ]
  return { texts, ...(tally.scored > 0 && { share }) }
}

interface TableLine {
  readonly before: string
  readonly bar: string
  readonly after: string
}

/**
 * Aligns cells in columns. Figures are never cut: where the terminal is too narrow, first the bar gets shorter, then the interval is left
 * out, and then names are cut.
 */
function toLines(rows: readonly Cells[], columns: number): readonly TableLine[] {
  const widths = HEADING.texts.map((_, column) => Math.max(...rows.map(({ texts }) => columnsOf(texts[column] ?? ''))))
  const isUsed = (column: number): boolean =>
    column !== NOT_SCORED || rows.slice(1).some(({ texts }) => texts[column] !== '')
  const widthOf = (shown: readonly number[]): number =>
    shown.reduce((sum, column) => sum + 2 + (widths[column] ?? 0), 0)
  const all = [1, 2, 3, INTERVAL, NOT_SCORED].filter(isUsed)
  const wanted = Math.min(widths[0] ?? 0, NARROWEST_NAME)
  const figures = 2 + wanted + widthOf(all) > columns ? all.filter((column) => column !== INTERVAL) : all
  const left = columns - 2 - widthOf(figures)
  const nameWidth = Math.max(1, Math.min(widths[0] ?? 0, left))
  const barWidth = Math.min(WIDEST_BAR, left - nameWidth - 1)
  return rows.map(({ texts, share }) => {
    const name = cutLine(texts[0] ?? '', nameWidth)
    const [failing = '', ...rest] = figures.map((column) => (texts[column] ?? '').padStart(widths[column] ?? 0))
    return {
      before: `  ${name}${' '.repeat(nameWidth - columnsOf(name))}  ${failing}`,
      bar: barWidth < 1 ? '' : ` ${share === undefined ? ' '.repeat(barWidth) : barOf(share, barWidth)}`,
      after: rest.map((text) => `  ${text}`).join(''),
    }
  })
}

/** Lists scorers that applied to none of the runs, because the table does not show them. */
export function renderUnused(messages: readonly string[], style: TableStyle): string {
  return messages.flatMap((message) => indented(style.paint('yellow', '–'), message, style)).join('\n')
}

/** Renders why runs have no score, the worst runs with their reasons, and what failing runs have in common, by agent and scorer. */
export function renderDetails(rows: readonly TallyRow[], failing: FailingInCommon, style: TableStyle): string {
  const lines = rows.flatMap(({ agent, tally }) => {
    const common = failing
      .sentences(agent, tally.scorer.id)
      .flatMap((sentence) => indented(style.paint('yellow', '∩'), `In common: ${sentence}`, style))
    const details = [...unscoredLines(tally, style), ...tally.worst.flatMap((run) => worstLines(run, style)), ...common]
    const heading = style.paint('bold', cutLine(`${agent}, ${nameOf(tally)}`, style.columns))
    return details.length === 0 ? [] : [[heading, ...details].join('\n')]
  })
  return lines.join('\n\n')
}

function unscoredLines(tally: Tally, style: TableStyle): string[] {
  const kinds = [
    ['skipped', tally.skipped],
    ['failed', tally.failed],
  ] as const
  return kinds.flatMap(([kind, counts]) =>
    [...counts].flatMap(([reason, { count, message }]) => {
      const runs = count === 1 ? `1 ${tally.units.slice(0, -1)}` : `${count} ${tally.units}`
      const text = `${runs} ${kind} (${reason}): ${message}`
      return indented(style.paint('yellow', '–'), text, style)
    }),
  )
}

function worstLines({ value, runId, userInput, explanation, findings }: WorstRun, style: TableStyle): string[] {
  const head = `${numberText(value)}  ${style.paint('dim', safeLine(runId))}`
  const asked = userInput === undefined ? [] : [`    ${cutLine(userInput, style.columns - 4)}`]
  const why = explanation === undefined ? [] : wrap(explanation, style.columns - 4, MAX_REASON_LINES)
  const found = findings.map((finding) => cutLine(`  · ${finding}`, style.columns - 4))
  return [`  ${head}`, ...asked, ...[...why, ...found].map((line) => style.paint('dim', `    ${line}`))]
}

function indented(sign: string, text: string, { columns }: TableStyle): string[] {
  return wrap(text, columns - 4, MAX_REASON_LINES).map((line, index) => `  ${index === 0 ? sign : ' '} ${line}`)
}

/** Renders what changed since a baseline, by scorer. */
export function renderBaseline(comparisons: readonly BaselineComparison[], style: TableStyle): string {
  const { paint } = style
  const lines = comparisons.flatMap((comparison) => {
    const { scorer, difference, questions, newFailures, fixed, unscored, onlyNow, onlyBefore } = comparison
    const change =
      difference === undefined
        ? 'no pair has two scores'
        : `${signed(difference.mean)} (95 %: ${difference.interval95.map(signed).join(' to ')}) over ${counted(difference.pairs, 'pair')}`
    const notes = [
      `of ${counted(questions, 'question')}, ${newFailures} newly failing and ${fixed} fixed`,
      everyTry(comparison),
      unscored === 0 ? '' : `${counted(unscored, 'question')} without two scores`,
      onlyNow === 0 ? '' : `${onlyNow} only in these files`,
      onlyBefore === 0 ? '' : `${onlyBefore} only in the baseline`,
    ].filter((note) => note !== '')
    return [
      `  ${paint('bold', scorer)}  ${change}`,
      ...indented(' ', notes.join('; '), style),
      ...(comparison.scorerChanged
        ? indented(
            paint('yellow', '!'),
            'The scorer has changed since, so the agent alone does not explain the difference.',
            style,
          )
        : []),
    ]
  })
  return [paint('bold', 'Compared with the baseline'), ...lines].join('\n')
}

/** Renders the questions that newly fail, with their old and new scores and the reason; empty if there are none. */
export function renderNewFailures(comparisons: readonly BaselineComparison[], style: TableStyle): string {
  const { columns, paint } = style
  const lines = comparisons.flatMap(({ scorer, newFailures, newlyFailing }) => [
    ...newlyFailing.flatMap((failure) => [
      `  ${paint('bold', safeLine(scorer))}  ${changeText(failure)}`,
      ...[failure.userInput, failure.explanation].flatMap((text) =>
        text === undefined ? [] : wrap(text, columns - 4, MAX_REASON_LINES).map((line) => `    ${line}`),
      ),
      paint('dim', `    ${safeLine(failure.agent)}, ${failure.runId}`),
    ]),
    ...(newFailures > newlyFailing.length ? [`  ${scorer}  ${newFailures - newlyFailing.length} more`] : []),
  ])
  return lines.length === 0 ? '' : [paint('bold', 'Newly failing'), ...lines].join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Renders the results of the gates. */
export function renderGates(gates: readonly GateResult[], columns: number | undefined, paint: Paint): string {
  const signOf = (gate: GateResult): string =>
    isUnchecked(gate) ? paint('yellow', '–') : gate.passed ? paint('green', '✓') : paint('red', '✗')
  return gates.map((gate) => hanging(`${signOf(gate)} `, gate.message, columns)).join('\n')
}

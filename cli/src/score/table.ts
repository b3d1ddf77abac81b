import type { Paint } from '../output.ts'
import { columnsOf, cutLine, safeLine, wrap } from '../text.ts'
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

const WIDEST_NAME = 32
const MAX_REASON_LINES = 6

/** Renders the scores by agent and scorer: number of runs, mean with its interval, share that passed. */
export function renderScores(rows: readonly TallyRow[], { columns, paint }: TableStyle): string {
  const cells = rows.map(({ agent, tally }) => toCells(agent, tally))
  const lines = toLines([HEADING, ...cells], columns)
  const hasLower = rows.some(({ tally }) => tally.scorer.better === 'lower')
  const table = lines
    .map((line, index) => {
      const tally = rows[index - 1]?.tally
      if (tally === undefined) return paint('dim', line)
      if (tally.scored === 0) return paint('yellow', `– ${line.slice(2)}`)
      return tally.passed === tally.scored
        ? `${paint('green', '✓')} ${line.slice(2)}`
        : `${paint('red', '✗')} ${line.slice(2)}`
    })
    .join('\n')
  return hasLower ? `${table}\n${paint('dim', '  ↓ lower is better')}` : table
}

/** `retrieval_relevance (calls)`: what is counted, if it is not runs. */
function nameOf({ scorer, units }: Tally): string {
  return units === 'runs' ? scorer.id : `${scorer.id} (${units})`
}

const HEADING = ['agent', 'scorer', 'scored', 'mean', '95 % interval', 'passed', 'not scored']
const RIGHT = new Set([2, 3, 5, 6])

function toCells(agent: string, tally: Tally): string[] {
  const found = tally.mean()
  const unscored = [...tally.skipped.values(), ...tally.failed.values()].reduce((sum, { count }) => sum + count, 0)
  const share = tally.scored === 0 ? '' : `${Math.round((tally.passed / tally.scored) * 100)} %`
  const name = nameOf(tally)
  return [
    safeLine(agent),
    tally.scorer.better === 'lower' ? `${name} ↓` : name,
    String(tally.scored),
    found === undefined ? '' : found.mean.toFixed(2),
    found === undefined ? '' : found.interval95.map((end) => end.toFixed(2)).join(' to '),
    share,
    unscored === 0 ? '' : String(unscored),
  ]
}

/** Aligns cells in columns, after two columns for a sign. */
function toLines(rows: readonly (readonly string[])[], columns: number): string[] {
  const widths = HEADING.map((_, column) => Math.max(...rows.map((row) => columnsOf(row[column] ?? ''))))
  const nameWidths = widths.map((width, column) => (column < 2 ? Math.min(width, WIDEST_NAME) : width))
  return rows.map((row) => {
    const cells = row.map((cell, column) => {
      const width = nameWidths[column] ?? 0
      const text = columnsOf(cell) > width ? cutLine(cell, width) : cell
      const spaces = ' '.repeat(Math.max(0, width - columnsOf(text)))
      return RIGHT.has(column) ? spaces + text : text + spaces
    })
    return `  ${cutLine(cells.join('  '), columns - 2)}`
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
  const head = `${style.paint('red', '✗')} ${numberText(value)}  ${style.paint('dim', safeLine(runId))}`
  const asked = userInput === undefined ? [] : [`    ${cutLine(userInput, style.columns - 4)}`]
  const why = explanation === undefined ? [] : wrap(explanation, style.columns - 4, MAX_REASON_LINES)
  const found = findings.map((finding) => cutLine(`  ✗ ${finding}`, style.columns - 4))
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
export function renderGates(gates: readonly GateResult[], { paint }: TableStyle): string {
  return gates
    .map((gate) => {
      const sign = isUnchecked(gate) ? paint('yellow', '–') : gate.passed ? paint('green', '✓') : paint('red', '✗')
      return `${sign} ${safeLine(gate.message)}`
    })
    .join('\n')
}

import type { BaselineComparison, NewFailure } from './baseline.ts'
import { changeText } from './changes.ts'
import { isUnchecked } from './gates.ts'
import type { GateResult } from './gates.ts'
import { safeText } from '../text.ts'
import { numberText } from './number-text.ts'
import type { Tally, TallyRow } from './tally.ts'

/**
 * Writes a JUnit report for the test view of a CI: one suite with a case for each gate, which fails if the gate does, and one
 * with a case for each agent and scorer, which shows what newly fails and the figures, and is skipped if nothing was scored.
 *
 * @param isFailed whether the case of an agent and scorer fails
 */
export function toJunit(
  rows: readonly TallyRow[],
  gates: readonly GateResult[],
  baseline: readonly BaselineComparison[] | undefined,
  isFailed: (row: TallyRow) => boolean,
): string {
  const failures = gates.filter(({ passed }) => !passed).length
  const unchecked = gates.filter(isUnchecked).length
  const failedRows = rows.filter(isFailed).length
  const unscored = rows.filter((row) => row.tally.scored === 0 && !isFailed(row)).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="spanscore" tests="${gates.length + rows.length}" failures="${failures + failedRows}" skipped="${unchecked + unscored}">`,
    `  <testsuite name="gates" tests="${gates.length}" failures="${failures}" skipped="${unchecked}">`,
    ...gates.map(toGateCase),
    '  </testsuite>',
    `  <testsuite name="scores" tests="${rows.length}" failures="${failedRows}" skipped="${unscored}">`,
    ...rows.map((row) => toScoreCase(row, newlyFailing(row, baseline ?? []), isFailed(row))),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function toGateCase(gate: GateResult): string {
  const { passed, message } = gate
  const name = nameOf(gate)
  const inner = isUnchecked(gate)
    ? `<skipped message="${escape(message)}"/>`
    : passed
      ? `<system-out>${escape(message)}</system-out>`
      : `<failure message="${escape(message)}"/>`
  return `    <testcase classname="spanscore.gates" name="${escape(name)}">${inner}</testcase>`
}

function nameOf(gate: GateResult): string {
  if ('caseId' in gate) return `case ${gate.caseId}`
  const { scorerId, bound, fails } = gate
  return bound === undefined ? `${scorerId} --fail-on ${fails}` : `${scorerId} --fail-${fails} ${bound}`
}

function newlyFailing({ agent, tally }: TallyRow, baseline: readonly BaselineComparison[]): readonly NewFailure[] {
  const listed = baseline.find(({ scorer }) => scorer === tally.scorer.id)?.newlyFailing ?? []
  return listed.filter((failure) => failure.agent === agent)
}

function toScoreCase({ agent, tally }: TallyRow, failures: readonly NewFailure[], isFailed: boolean): string {
  const inner = isFailed
    ? `<failure message="${escape(failureOf(tally, failures))}">${escape([...failures.map(toText), describe(tally)].join('\n'))}</failure>`
    : tally.scored === 0
      ? `<skipped message="${escape(absence(tally))}"/>`
      : `<system-out>${escape(describe(tally))}</system-out>`
  return `    <testcase classname="${escape(`spanscore.${agent}`)}" name="${escape(tally.scorer.id)}">${inner}</testcase>`
}

function toText(failure: NewFailure): string {
  const { runId, userInput = '', explanation = '' } = failure
  return [`newly failing: ${changeText(failure)}`, userInput, explanation, `run ${runId}`].filter(Boolean).join('\n')
}

function describe(tally: Tally): string {
  const found = tally.mean()
  const figures =
    found === undefined
      ? ''
      : `mean ${numberText(found.mean)} (95 %: ${found.interval95.map(numberText).join(' to ')}), ` +
        `${tally.passed} of ${tally.scored} passed`
  const worst = tally.worst.map(
    (run) => `${numberText(run.value)} ${run.runId}: ${[run.explanation ?? '', ...run.findings].join('\n')}`,
  )
  return [figures, ...worst].join('\n')
}

function failureOf(tally: Tally, [first, ...more]: readonly NewFailure[]): string {
  const changed =
    first === undefined
      ? []
      : [
          `newly failing: ${first.userInput ?? `run ${first.runId}`} ${changeText(first)}`,
          ...(more.length === 0 ? [] : [`${more.length} more newly failing`]),
        ]
  const failing = tally.scored - tally.passed
  const absent =
    tally.failed.size === 0 ? [] : [[...tally.failed].map(([code, { count }]) => `${code} ${count}`).join(', ')]
  const all = [...(failing === 0 ? [] : [`${failing} of ${tally.scored} ${tally.units} did not pass`]), ...absent]
  return [...changed, ...all].join('; ')
}

function absence(tally: Tally): string {
  return [...tally.skipped, ...tally.failed].map(([reason, { count }]) => `${reason} ${count}`).join(', ')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * XML allows neither control characters, even escaped, nor lone surrogates. Escape sequences and direction marks are left out
 * too: CI systems show reports in logs.
 */
function escape(text: string): string {
  return safeText(text)
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}

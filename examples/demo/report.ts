/** What the demo prints. Everything comes from what arrived at the OTLP receiver, nothing from inside the process. */
import { styleText } from 'node:util'
import { reconstructRuns } from 'spanscore/runs'
import type { ReceivedLog, ReceivedSpan } from 'spanscore/testing'

type Format = Parameters<typeof styleText>[0]
const paint = (format: Format, text: string) => styleText(format, text, { stream: process.stdout })
const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
const fit = (text: string, width: number) => (text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width))

/** The scores, skips and failures that stand on a span, by scorer. */
function scoresOn(span: ReceivedSpan): { id: string; text: string; format: Format }[] {
  return Object.entries(span.attributes).flatMap(([key, value]): { id: string; text: string; format: Format }[] => {
    const score = /^spanscore\.([a-z0-9_]+)\.score$/.exec(key)
    if (score?.[1]) {
      const passed = span.attributes[`spanscore.${score[1]}.label`] === 'pass'
      return [{ id: score[1], text: String(value), format: passed ? 'green' : 'red' }]
    }
    const status = /^spanscore\.([a-z0-9_]+)\.status$/.exec(key)
    if (status?.[1]) {
      return [
        {
          id: status[1],
          text: `${textOf(value)} (${textOf(span.attributes[`spanscore.${status[1]}.status_reason`])})`,
          format: 'yellow',
        },
      ]
    }
    return []
  })
}

/** True for spans on which a score, or the reason for its absence, stands. */
export const carriesScores = (span: ReceivedSpan): boolean => scoresOn(span).length > 0

const nameOf = (span: ReceivedSpan) => textOf(span.attributes['gen_ai.agent.name']) || span.name

/** What the user asked, as spanscore reads it from the span. */
const questionOf = (span: ReceivedSpan): string => reconstructRuns([span])[0]?.userInput ?? ''

/** The live line of one run. */
export function printRun(span: ReceivedSpan): void {
  const scores = scoresOn(span)
  const late = span.scope.name === 'spanscore'
  const failed = scores.some((score) => score.format === 'red')
  const mark = failed
    ? paint('red', '✗')
    : scores.some((score) => score.format === 'green')
      ? paint('green', '✓')
      : paint('yellow', '–')
  const title = late ? `late span: ${span.name}` : questionOf(span)
  console.log(`${mark} ${paint('bold', fit(nameOf(span), 14))} ${fit(title, 62).trimEnd()}`)
  for (const { id, text, format } of scores) console.log(`    ${id} ${paint(format, text)}`)
}

interface Row {
  agent: string
  scorer: string
  values: number[]
  passed: number
  unscored: number
  /** Among the runs that failed. */
  worst?: { value: number; reason: string }
}

/** The table by agent and scorer, from the `gen_ai.evaluation.result` events that arrived. */
export function printTable(events: readonly ReceivedLog[]): void {
  const rows = new Map<string, Row>()
  for (const { attributes } of events) {
    const agent = textOf(attributes['gen_ai.agent.name']) || '(unnamed)'
    const scorer = textOf(attributes['gen_ai.evaluation.name'])
    const row: Row = rows.get(`${agent} ${scorer}`) ?? { agent, scorer, values: [], passed: 0, unscored: 0 }
    rows.set(`${agent} ${scorer}`, row)
    const value = attributes['gen_ai.evaluation.score.value']
    if (typeof value !== 'number') {
      row.unscored++
      continue
    }
    row.values.push(value)
    if (attributes['gen_ai.evaluation.score.label'] === 'pass') {
      row.passed++
    } else if (!row.worst || value < row.worst.value) {
      row.worst = { value, reason: textOf(attributes['gen_ai.evaluation.explanation']).replaceAll(/\s+/g, ' ') }
    }
  }
  console.log(
    paint(
      'dim',
      `${fit('agent', 15)}${fit('scorer', 24)}${'scored'.padStart(6)}${'mean'.padStart(7)}${'passed'.padStart(8)}   worst run, and why`,
    ),
  )
  const sorted = [...rows.values()].toSorted(
    (a, b) => a.agent.localeCompare(b.agent) || a.scorer.localeCompare(b.scorer),
  )
  for (const { agent, scorer, values, passed, worst } of sorted) {
    const mean = values.length > 0 ? (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(2) : '–'
    const share = `${passed}/${values.length}`
    console.log(
      `${fit(agent, 15)}${fit(scorer, 24)}${String(values.length).padStart(6)}${mean.padStart(7)}` +
        `${paint(passed === values.length ? 'green' : 'red', share.padStart(8))}   ` +
        (worst ? paint('dim', `${worst.value}: ${fit(worst.reason, 60).trimEnd()}`) : ''),
    )
  }
}

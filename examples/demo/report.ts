/** Prints the runs and scores of the demo. All of it comes from the data that arrived at the OTLP receiver. */
import { styleText } from 'node:util'
import { reconstructRuns } from 'spanscore/runs'
import type { ReceivedSpan } from 'spanscore/testing'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

import { plain } from './plain.ts'

type Format = Parameters<typeof styleText>[0]

export const columns: number = Math.min(110, process.stdout.columns ?? 100)

/** Colours a text if the output is a terminal with colours. */
export const paint = (format: Format, text: string): string => styleText(format, text, { stream: process.stdout })

/** Prints a text of any length, in lines that fit the terminal. */
export const say = (text: string): void => console.log(wrapAnsi(text, columns))

/** Names are cut here, so that a long one leaves the columns of the others in place. */
const LONGEST_NAME = 80

const textOf = (value: unknown) => (typeof value === 'string' ? plain(value) : '')
const nameOf = (value: unknown) => (typeof value === 'string' ? plain(value, LONGEST_NAME) : '')
const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - stringWidth(text)))

/** A text in as many lines as it needs, each of which is indented. */
const indented = (text: string, indent: number) =>
  wrapAnsi(text, columns - indent, { hard: true })
    .split('\n')
    .map((line) => `${' '.repeat(indent)}${line}`)
    .join('\n')

/** Green, red, and yellow for what is neither. */
const FORMATS: Readonly<Record<string, Format>> = { pass: 'green', fail: 'red' }

interface ShownScore {
  readonly id: string
  /** `pass` or `fail`; without a score `skipped` or `failed`. */
  readonly verdict: string
  /** The score, or the reason why there is none. */
  readonly value: string
  /** Shown if the score did not pass. */
  readonly why: string
}

/** The only scorer of the demo whose lower scores are better. Spans do not say it, events do. */
const LOWER_IS_BETTER = 'tool_errors'

/** The scores on a span, and the reasons of those that are missing, by scorer. */
function scoresOn({ attributes }: ReceivedSpan): ShownScore[] {
  return Object.entries(attributes).flatMap(([key, value]): ShownScore[] => {
    const [, id = '', part] = /^spanscore\.([a-z0-9_]+)\.(score|status)$/.exec(key) ?? []
    if (part === undefined) return []
    const shownId = id === LOWER_IS_BETTER ? `${nameOf(id)} ↓` : nameOf(id)
    const of = (name: string) => textOf(attributes[`spanscore.${id}.${name}`])
    if (part === 'status') {
      const why = withoutId(of('status_message'), id)
      return [{ id: shownId, verdict: nameOf(value), value: nameOf(of('status_reason')), why }]
    }
    const verdict = of('label')
    return [{ id: shownId, verdict, value: nameOf(String(value)), why: verdict === 'pass' ? '' : of('explanation') }]
  })
}

/** Removes the scorer's id from the beginning of a message. Logs need it there, but here it is printed beside the message. */
const withoutId = (message: string, id: string) =>
  message.startsWith(`${id}: `) ? message.slice(id.length + 2) : message

/** True for spans that carry a score, or the reason why there is none. */
export const carriesScores = (span: ReceivedSpan): boolean => scoresOn(span).length > 0

const isLate = (span: ReceivedSpan) => span.scope.name === 'spanscore'

/** The runs that were printed, by trace and span id. */
const printed = new Set<string>()

/** How many runs were printed. */
export const printedRuns = (): number => printed.size

/** Prints one run or one late span, with the verdict of each score, and the complete reason if a score did not pass. */
export function printRun(span: ReceivedSpan): void {
  printed.add(`${span.traceId} ${isLate(span) ? span.parentSpanId : span.spanId}`)
  const scores = scoresOn(span)
  const name = paint('bold', nameOf(span.attributes['gen_ai.agent.name']) || nameOf(span.name))
  const question = textOf(reconstructRuns([span])[0]?.userInput)
  const title = isLate(span) ? `a score that came after its run: ${nameOf(span.name)}` : question
  // In this application, an agent's span has no parent, except the tool call of another agent.
  const caller = !isLate(span) && span.parentSpanId !== undefined ? paint('dim', '  (asked by another agent)') : ''
  console.log(wrapAnsi(`${name}  ${title}${caller}`, columns, { hard: true }))
  for (const { id, verdict, value, why } of scores) {
    console.log(`  ${paint(FORMATS[verdict] ?? 'yellow', pad(verdict, 9))}${pad(id, 24)}${value}`)
    if (why !== '') console.log(paint('dim', indented(why, 6)))
  }
  console.log()
}

import type { AgentRun, Missing, ModelCall, Retrieval, ToolCall } from '../../src/model/agent-run.ts'
import { CALL_STATUS, hasFailed } from '../../src/model/call-status.ts'
import type { RunError } from '../../src/model/message.ts'
import type { StoredScore } from '../../src/otlp/stored-score.ts'
import type { Format, Paint } from './output.ts'
import { columnsOf, cutLine, safeJson, safeLine, safeText, wrap } from './text.ts'
import { isTooLow } from '../../src/runs/view/cure-of.ts'

/** How a tree is drawn. */
export interface TreeStyle {
  readonly columns: number
  readonly paint: Paint
  /** The existing scores of a run or a nested run. @default none */
  readonly scoresOf?: (run: AgentRun) => readonly StoredScore[]
}

/** Maximum number of lines of a text, an argument or a result. */
const MAX_TEXT_LINES = 8
const MAX_VALUE_LINES = 4
/** How many documents of a retrieval are shown. */
const MAX_DOCUMENTS = 5
/** Runs that are nested deeper are only named. */
const MAX_DEPTH = 8
const LABEL_COLUMNS = 9

/**
 * Renders a run as text: its agent, input, steps with their tool calls, arguments and results, its answer and status, and what the
 * spans lack, with the setting that records it. Runs that a tool started appear below its call.
 */
export function renderRun(run: AgentRun, style: TreeStyle): string {
  const lines = new Lines(style)
  addRun(run, lines, 0)
  return lines.text
}

/** Collects lines of text with an indent. */
class Lines {
  readonly paint: Paint
  readonly scoresOf: (run: AgentRun) => readonly StoredScore[]
  readonly #columns: number
  readonly #lines: string[] = []

  constructor({ columns, paint, scoresOf = () => [] }: TreeStyle) {
    this.paint = paint
    this.scoresOf = scoresOf
    this.#columns = columns
  }

  get text(): string {
    return `${this.#lines.join('\n')}\n`
  }

  add(line: string): void {
    this.#lines.push(line.trimEnd())
  }

  /** Adds a label and, beside it, a text that may wrap to several lines. */
  addLabelled(indent: string, label: string, text: string, maxLines: number, format: Format = 'dim'): void {
    const width = this.widthAfter(indent + ' '.repeat(LABEL_COLUMNS))
    for (const [index, row] of wrap(text, width, maxLines).entries()) {
      const head = index === 0 ? this.paint(format, label.padEnd(LABEL_COLUMNS)) : ' '.repeat(LABEL_COLUMNS)
      this.add(`${this.paint('dim', indent)}${head}${row}`)
    }
  }

  /** Adds a wrapped text with one prefix for its first line and another for the rest. */
  addWrapped(first: string, rest: string, text: string, maxLines: number): void {
    for (const [index, row] of wrap(text, this.widthAfter(rest), maxLines).entries()) {
      this.add(`${this.paint('dim', index === 0 ? first : rest)}${row}`)
    }
  }

  /** Columns that remain after an indent. */
  widthAfter(indent: string): number {
    return Math.max(20, this.#columns - columnsOf(indent))
  }

  /** Cuts a text to the width that remains after an indent. */
  cut(text: string, indent: string): string {
    return cutLine(text, this.widthAfter(indent))
  }
}

function addRun(run: AgentRun, lines: Lines, depth: number, indent = ''): void {
  const { paint } = lines
  const name = paint('bold', lines.cut(run.agent.name ?? '(agent without a name)', `${indent}  `))
  lines.add(`${paint('dim', indent)}${name}  ${paintStatus(run.status, paint)}`)
  lines.add(paint('dim', `${indent}${lines.cut(facts(run), indent)}`))
  lines.add(paint('dim', `${indent}${lines.cut(`${run.dialect} · ${run.id}`, indent)}`))
  if (run.systemInstructions !== undefined) {
    lines.addLabelled(indent, 'system', run.systemInstructions, MAX_VALUE_LINES)
  }
  const history = run.input.length - 1
  if (history > 0) lines.addLabelled(indent, 'history', `${history} earlier ${plural(history, 'message')}`, 1)
  if (run.userInput !== undefined) lines.addLabelled(indent, 'user', run.userInput, MAX_TEXT_LINES)
  const scores = lines.scoresOf(run)
  addSteps({ run, lines, depth, scores }, indent)
  if (run.output !== undefined) lines.addLabelled(indent, 'answer', run.output, MAX_TEXT_LINES)
  if (run.error !== undefined) lines.addLabelled(indent, 'error', describeError(run.error), MAX_VALUE_LINES)
  for (const score of scores) addScore(score, lines, indent)
  addMissing(run.missing, lines, indent)
}

/** `✓ score  tool_errors 1  why`, or `✗ user   thumbs 0  why`: the sign says whether it passed, because for some scorers lower is better. */
function addScore(score: Omit<StoredScore, 'calls'>, lines: Lines, indent: string): void {
  const { scorerId, value, label, explanation, status, reason, message } = score
  const { sign, format } = MARKS[label ?? ''] ?? MARKS.other
  const absence = `${status ?? 'failed'}${reason === undefined ? '' : ` (${reason})`}`
  const why = explanation ?? message
  const text = `${scorerId} ${value ?? label ?? absence}${why === undefined ? '' : `  ${why}`}`
  lines.addLabelled(
    indent,
    `${sign} ${score.evaluatorType === 'user' ? 'user' : 'score'}`,
    text,
    MAX_VALUE_LINES,
    format,
  )
}

interface Mark {
  readonly sign: string
  readonly format: Format
}

const MARKS: Readonly<Record<string, Mark>> & { readonly other: Mark } = {
  pass: { sign: '✓', format: 'green' },
  fail: { sign: '✗', format: 'red' },
  other: { sign: '–', format: 'yellow' },
}

/** What the parts of a run are drawn with. */
interface Drawing {
  readonly run: AgentRun
  readonly lines: Lines
  readonly depth: number
  readonly scores: readonly StoredScore[]
}

/** The scores of one call, each where the call is. */
function addCallScores(level: string, index: number, { scores, lines }: Drawing, indent: string): void {
  for (const { scorerId, level: itsLevel, calls = [] } of scores) {
    if (itsLevel !== level) continue
    for (const { index: ofCall, ...score } of calls) {
      if (ofCall === index) addScore({ scorerId, ...score }, lines, indent)
    }
  }
}

function addSteps(drawing: Drawing, indent: string): void {
  const { run, lines, depth } = drawing
  const children = new Map(run.children.map((child) => [child.id, child]))
  const callsOf = Map.groupBy(run.toolCalls, (call) => call.step)
  const count = run.toolCalls.reduce((most, call) => Math.max(most, call.step + 1), run.steps.length)
  for (let step = 0; step < count; step++) {
    const calls = callsOf.get(step) ?? []
    const model = run.steps[step]
    const preface = calls.length > 0 || model?.status === 'error' ? describeStep(model) : ''
    if (calls.length === 0 && preface === '') continue
    lines.add(
      lines.paint('dim', `${indent}├─ step ${step + 1}`) +
        (preface === '' ? '' : `  ${lines.cut(preface, `${indent}├─ step 00  `)}`),
    )
    for (const [index, call] of calls.entries()) {
      const child = call.childRunId === undefined ? undefined : children.get(call.childRunId)
      if (child !== undefined) children.delete(child.id)
      addCall(call, child, drawing, `${indent}│  `, index === calls.length - 1)
    }
  }
  for (const call of run.sideCalls) {
    const name = call.name === undefined ? call.kind : `${call.kind} ${call.name}`
    const head = `${indent}├─ side call  `
    lines.add(`${lines.paint('dim', head)}${lines.cut(`${name}  ${describeStep(call)}`, head)}`)
  }
  addRetrievals(undefined, drawing, indent)
  for (const child of children.values()) addChild(child, lines, depth, `${indent}│  `)
}

/** The retrievals of a tool call, or those that no call made, each with its scores. */
function addRetrievals(toolCall: number | undefined, drawing: Drawing, indent: string): void {
  for (const [index, retrieval] of drawing.run.retrievals.entries()) {
    if (retrieval.toolCall !== toolCall) continue
    addRetrieval(retrieval, drawing.lines, indent)
    addCallScores('retrieval', index, drawing, `${indent}│  `)
  }
}

function addRetrieval({ kind, query, documents, source, error }: Retrieval, lines: Lines, indent: string): void {
  const head = `${indent}├─ ${kind}  `
  const found = documents === undefined ? 'documents not recorded' : `${documents.length} documents`
  const what = [source, query, error === undefined ? found : undefined].filter((part) => part !== undefined)
  lines.add(`${lines.paint('dim', head)}${lines.cut(what.map(safeText).join('  '), head)}`)
  const inner = `${indent}│  `
  if (error !== undefined) lines.addWrapped(`${inner}✗ `, `${inner}  `, describeError(error), MAX_VALUE_LINES)
  for (const { id, content, score } of documents?.slice(0, MAX_DOCUMENTS) ?? []) {
    const named = [score === undefined ? undefined : score.toPrecision(3), content ?? id ?? '(no text)']
    lines.addWrapped(`${inner}→ `, `${inner}  `, named.filter((part) => part !== undefined).join('  '), 1)
  }
}

function addCall(call: ToolCall, child: AgentRun | undefined, drawing: Drawing, indent: string, isLast: boolean): void {
  const { run, lines, depth } = drawing
  const { paint } = lines
  const index = run.toolCalls.indexOf(call)
  const branch = `${indent}${isLast ? '└─' : '├─'} `
  const note = noteOf(call)
  const name = lines.cut(call.name, branch)
  const given = call.arguments === undefined ? '' : safeText(valueText(call.arguments))
  const width = lines.widthAfter(branch)
  // A long text is too wide in any case, so its width is not computed.
  const isShort = given.length <= width && columnsOf(`${name} ${given}${note}`) <= width && !given.includes('\n')
  const painted = paint('cyan', name) + (isShort ? ` ${given}` : '') + paint(hasFailed(call) ? 'red' : 'dim', note)
  lines.add(`${paint('dim', branch)}${painted}`)
  const inner = `${indent}${isLast ? ' ' : '│'}  `
  if (!isShort) lines.addWrapped(`${inner}  `, `${inner}  `, given, MAX_VALUE_LINES)
  addRetrievals(index, drawing, inner)
  if (child !== undefined) addChild(child, lines, depth, `${inner}│ `)
  if (call.error !== undefined) lines.addWrapped(`${inner}✗ `, `${inner}  `, describeError(call.error), MAX_VALUE_LINES)
  else if (call.result !== undefined) {
    lines.addWrapped(`${inner}→ `, `${inner}  `, valueText(call.result), MAX_VALUE_LINES)
  }
  addCallScores('tool-call', index, drawing, inner)
}

/** Which agent made a call, who executed it, and whether it failed: `  (by billing-agent, failed)`. */
function noteOf(call: ToolCall): string {
  const marks: string[] = []
  if (call.agentName !== undefined) marks.push(`by ${call.agentName}`)
  if (call.providerExecuted) marks.push('run by the provider')
  const { mayHaveSucceeded, words } = CALL_STATUS[call.status]
  if (!mayHaveSucceeded) marks.push(words)
  return marks.length === 0 ? '' : `  (${safeLine(marks.join(', '))})`
}

function addChild(child: AgentRun, lines: Lines, depth: number, indent: string): void {
  if (depth < MAX_DEPTH) addRun(child, lines, depth + 1, indent)
  else lines.add(`${lines.paint('dim', indent)}${lines.cut(child.agent.name ?? child.id, indent)} …`)
}

function addMissing(missing: readonly Missing[], lines: Lines, indent: string): void {
  for (const items of Map.groupBy(missing, (item) => `${item.why}\n${item.switch ?? ''}`).values()) {
    const [first] = items
    if (first === undefined) continue
    const names = items.map((item) => item.what).join(', ')
    lines.addLabelled(indent, 'missing', `${names} (${first.why.replaceAll('-', ' ')})`, MAX_VALUE_LINES)
    const verb = isTooLow(first) ? 'raise' : 'record with'
    if (first.switch !== undefined) lines.addLabelled(indent, '', `${verb} ${first.switch}`, MAX_VALUE_LINES)
  }
}

function facts(run: AgentRun): string {
  const { inputTokens, outputTokens } = run.usage
  const parts = [
    timeText(run.startTimeMs),
    duration(run.endTimeMs - run.startTimeMs),
    ...run.models,
    inputTokens === undefined && outputTokens === undefined
      ? ''
      : `${inputTokens ?? '?'} + ${outputTokens ?? '?'} tokens`,
    run.complete ? '' : 'incomplete',
  ]
  return parts.filter((part) => part !== '').join(' · ')
}

/** `toISOString` throws beyond the year 275760, which a damaged file may hold. */
function timeText(timeMs: number): string {
  const date = new Date(timeMs)
  return Number.isNaN(date.getTime())
    ? ''
    : date
        .toISOString()
        .replace('T', ' ')
        .replace(/:\d\d\.\d+Z$/, 'Z')
}

function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.max(0, Math.round(milliseconds))} ms` : `${(milliseconds / 1000).toFixed(1)} s`
}

function describeStep(model: ModelCall | undefined): string {
  if (model === undefined) return ''
  if (model.status === 'error') return `model call failed: ${describeError(model.error ?? {})}`
  return (model.output ?? [])
    .map((message) => message.text ?? '')
    .join(' ')
    .trim()
}

function describeError(error: RunError): string {
  const parts = [error.type, error.message].filter((part) => part !== undefined)
  return parts.length === 0 ? 'no message was recorded' : parts.join(': ')
}

function paintStatus(status: AgentRun['status'], paint: Paint): string {
  if (status === 'ok') return paint('green', 'ok')
  if (status === 'error') return paint('red', 'error')
  return paint('yellow', status === 'unknown' ? 'status unknown' : status)
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value
  return safeJson(JSON.stringify(value) ?? String(value))
}

function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`
}

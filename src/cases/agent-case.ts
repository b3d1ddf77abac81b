import type { AnswerPoints } from '../scorers/judge/answer-correctness/points.ts'
import { pointsKey } from '../scorers/judge/answer-correctness/points.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { ExpectedCall } from '../scorers/code/trajectory.ts'
import { readOptions } from '../scorers/read-options.ts'
import type { KeysOf } from '../scorers/read-options.ts'
import { isRecord, textOf } from '../spans/json.ts'
import { textMessage } from '../spans/content/messages.ts'
import { inputKeyOf } from './input-key.ts'

/** What a scorer or a person found wrong with a run. */
export interface CaseFault {
  /** The scorer, or the name of the feedback. */
  readonly scorer: string
  /** In the scorer's own units. */
  readonly score?: number
  /** What the scorer, or the user who gave the feedback, says. */
  readonly label?: string
  /** What people who labelled the score say, if they agree with each other. */
  readonly person?: 'pass' | 'fail'
  /** `user` for feedback of the agent's user. */
  readonly by?: 'user'
  /** Why. */
  readonly explanation?: string
}

/**
 * A question, mostly one that an agent answered badly, and what is expected of the next answer. One line of a file of cases, which must
 * have an `input`. A field that is not listed here is refused.
 */
export interface AgentCase {
  /** Equal for all runs of the agent with this question and history: 16 hex digits. @default made of them */
  readonly id: string
  /** The agent that is asked. @default any */
  readonly agent?: string
  /** The question: the last message of the user. */
  readonly input: string
  /** The texts of user and assistant before it. Calls and results of tools are left out. @default [] */
  readonly history: readonly { readonly role: string; readonly content: string }[]
  /** Names of the tools that were offered, if they were recorded. */
  readonly tools?: readonly string[]
  /** What people fill in, in the file perhaps only the text of `answer`. What is `null`, or absent in the file, is not checked. */
  readonly expected: {
    /** The expected answer, for scorers that compare with one, such as `answer_correctness`. Nothing of it must occur word for word. */
    readonly answer: string | null
    /** Text that the answer must mention, in either case, or alternatives. */
    readonly mentions: string | readonly string[] | null
    /**
     * Calls that the run must make in this order, as `createTrajectoryScorer` takes them. Others may come between. An empty list: no tool may
     * be called.
     */
    readonly trajectory: readonly ExpectedCall[] | null
    /** What an answer must say to be right, as `spanscore cases points` makes it of `answer`. A person may change it. */
    readonly points?: AnswerPoints | null
  }
  /** What was wrong. @default [] */
  readonly wrong: readonly CaseFault[]
  /** The answer that was given. */
  readonly answered?: string
  /** The calls that were made. @default [] */
  readonly called: readonly { readonly name: string; readonly arguments?: unknown }[]
  /** The run that was the reason for the case: `${traceId}:${spanId}`. */
  readonly runId?: string
}

/**
 * Makes a case of a run, if its last message is a question with text.
 *
 * @param shown the run whose content the case may hold: the run itself, or what `redact` made of it
 */
export function toCase(run: AgentRun, shown: AgentRun, wrong: readonly CaseFault[]): AgentCase | 'no-question' {
  const id = inputKeyOf(run)
  const question = shown.input.at(-1)
  if (id === undefined || question?.role !== 'user' || question.text === undefined) return 'no-question'
  const history = shown.input
    .slice(0, -1)
    .flatMap(({ role, text }) =>
      (role === 'user' || role === 'assistant') && text !== undefined ? [{ role, content: text }] : [],
    )
  const tools = shown.availableTools?.map(({ name }) => name)
  return {
    id,
    ...(run.agent.name !== undefined && { agent: run.agent.name }),
    input: question.text,
    history,
    ...(tools !== undefined && { tools }),
    expected: TO_FILL_IN,
    wrong,
    ...(shown.output !== undefined && { answered: shown.output }),
    called: shown.toolCalls.map(({ name, arguments: args }) => ({
      name,
      ...(args !== undefined && { arguments: args }),
    })),
    runId: run.id,
  }
}

const TO_FILL_IN = { answer: null, mentions: null, trajectory: null }

const FIELDS: KeysOf<AgentCase> = {
  id: true,
  agent: true,
  input: true,
  history: true,
  tools: true,
  expected: true,
  wrong: true,
  answered: true,
  called: true,
  runId: true,
}
const EXPECTED_FIELDS: KeysOf<AgentCase['expected']> = { answer: true, mentions: true, trajectory: true, points: true }

/**
 * Reads the text of a file of cases: JSON lines.
 *
 * @param file how errors name the file
 * @throws TypeError if a line is not a case; it names file and line, and what was expected.
 */
export function parseCases(text: string, file: string): readonly AgentCase[] {
  const cases = new Map<string, AgentCase>()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const place = `${file}, line ${index + 1}`
    const parsed = parseCase(line, place)
    if (cases.has(parsed.id)) throw new TypeError(`${place}: expected each question once, got case ${parsed.id} again`)
    cases.set(parsed.id, parsed)
  }
  return [...cases.values()]
}

/**
 * Reads one line of a file of cases.
 *
 * @param place how errors name the line
 */
export function parseCase(line: string, place: string): AgentCase {
  const value = toJson(line, place)
  if (!isRecord(value)) throw new TypeError(`${place}: expected a case as a JSON object, got ${line.slice(0, 60)}`)
  const expect = (isRight: boolean, what: string): void => {
    if (!isRight) throw new TypeError(`${place}: expected ${what}`)
  }
  readOptions(place, value, FIELDS, 'field')
  const { agent, input, history = [], wrong = [], called = [], runId } = value
  const expected = expectedOf(value)
  expect(isPhrase(input), '"input" to be the question as a text')
  for (const [name, text] of Object.entries({ id: value['id'], agent, runId }))
    expect(text === undefined || typeof text === 'string', `"${name}" to be a text, or absent`)
  for (const [name, list] of Object.entries({ wrong, called }))
    expect(Array.isArray(list), `"${name}" to be a list, or absent`)
  const areMessages =
    Array.isArray(history) &&
    history.every((each) => isRecord(each) && textOf(each['role']) !== undefined && typeof each['content'] === 'string')
  expect(areMessages, '"history" to be a list of messages with role and content, or absent')
  if (!isRecord(expected))
    throw new TypeError(`${place}: expected "expected" to be the expected answer as a text, or an object`)
  const all = {
    ...TO_FILL_IN,
    points: null,
    ...readOptions(`${place}, expected`, { ...expected }, EXPECTED_FIELDS, 'field'),
  }
  const { answer, mentions, trajectory, points }: Readonly<Record<string, unknown>> = all
  const isAnswer = answer === null || isPhrase(answer)
  expect(
    isAnswer,
    'expected.answer to be the expected answer as a text, or null; texts that must occur are expected.mentions',
  )
  const areMentions =
    mentions === null ||
    isPhrase(mentions) ||
    (Array.isArray(mentions) && mentions.length > 0 && mentions.every(isPhrase))
  expect(areMentions, 'expected.mentions to be a text, a list of alternatives, or null')
  expect(
    trajectory === null || (Array.isArray(trajectory) && trajectory.every(isExpectedCall)),
    'expected.trajectory to be a list of calls, each a name or { "name", "arguments" }, or null',
  )
  expect(
    points === null || arePoints(points),
    'expected.points to be { "of", "list" }, as spanscore cases points writes it, or null',
  )
  const fits =
    points === null ||
    (typeof answer === 'string' && isRecord(points) && points['of'] === pointsKey(String(input), answer))
  expect(
    fits,
    'expected.points to fit the question and expected.answer, which were changed: take the points out, and run spanscore cases points FILE',
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- checked above
  const read = { ...value, history, expected: all, wrong, called } as unknown as AgentCase
  return { ...read, id: read.id ?? idOf(read) }
}

/** What a line expects. A text is the answer. */
export function expectedOf({ expected = {} }: Readonly<Record<string, unknown>>): unknown {
  return typeof expected === 'string' ? { answer: expected } : (expected ?? {})
}

function idOf({ agent, history, input }: AgentCase): string {
  const messages = [...history, { role: 'user', content: input }].map(({ role, content }) => textMessage(role, content))
  return inputKeyOf({ agent: agent === undefined ? {} : { name: agent }, input: messages }) ?? ''
}

function toJson(line: string, place: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const expected = 'expected one case a line, as a JSON object'
    throw new TypeError(`${place}: ${expected}, got text that is not valid JSON (${why})`, { cause: error })
  }
}

function isPhrase(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

function arePoints(value: unknown): boolean {
  if (!isRecord(value) || typeof value['of'] !== 'string' || !Array.isArray(value['list'])) return false
  const { list } = value
  return (
    list.length > 0 &&
    list.every((each) => isRecord(each) && isPhrase(each['text']) && [1, 2].includes(Number(each['weight'])))
  )
}

function isExpectedCall(call: unknown): boolean {
  if (typeof call === 'string') return true
  if (!isRecord(call) || typeof call['name'] !== 'string') return false
  const known = Object.keys(call).every((key) => key === 'name' || key === 'arguments')
  return known && (call['arguments'] === undefined || isRecord(call['arguments']))
}

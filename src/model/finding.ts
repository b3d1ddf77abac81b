/** One thing that a scorer found: what it looked at, what it says of it, and where that is. Messages, reports and the page show it. */
export interface Finding {
  /** What kind of thing it is, such as `claim`, `requirement`, `goal`, `call`, `message`. It never quotes the run. */
  readonly about: string
  /** What the scorer says of it, in a word of its own, such as `not_stated`. It never quotes the run. */
  readonly verdict: string
  /** `good`, `bad`, or `open` if it counts neither way. */
  readonly rating: 'good' | 'bad' | 'open'
  /** The thing itself in a few words: the claim, the goal, the name of the tool. It may quote the run. */
  readonly text: string
  /** Why. It may quote the run. */
  readonly reason?: string
  /** Where it is, the place to look at first coming first; absent if it is nowhere in particular. */
  readonly places?: readonly FindingPlace[]
}

/** A place in a run or a conversation. */
export interface FindingPlace {
  /**
   * The part of the record: the instructions, a message of the input, the answer, a tool call (its arguments, its result), a retrieval, or a turn
   * of a conversation.
   */
  readonly in: 'instructions' | 'message' | 'answer' | 'call' | 'arguments' | 'result' | 'retrieval' | 'turn'
  /** The index in `run.input`, `run.toolCalls`, `run.retrievals` or `conversation.turns`. */
  readonly index?: number
  /** `AgentRun.id` of the run that has it, if that is not the run that was scored but a nested one, or one of the conversation. */
  readonly runId?: string
  /** The path in the arguments: `city`, `stops[2].name`. */
  readonly path?: string
  /** The index of the document in the retrieval. */
  readonly document?: number
  /** The passage, word for word. */
  readonly quote?: string
}

/** How many findings of a score, and places of a finding, are kept. */
const MAX_FINDINGS = 100
const MAX_PLACES = 20

/** How many characters of each text are kept. */
const MAX_TEXT = 1000

/** The findings in a value that may be anything, as foreign code and files have it. What is none is left out. */
export function readFindings(value: unknown): readonly Finding[] {
  return Array.isArray(value) ? value.slice(0, MAX_FINDINGS).flatMap((one: unknown) => readFinding(one) ?? []) : []
}

function readFinding(value: unknown): Finding | undefined {
  if (!isObject(value)) return undefined
  const { about, verdict, rating, text, reason, places } = value
  if (typeof about !== 'string' || typeof verdict !== 'string' || typeof text !== 'string') return undefined
  if (rating !== 'good' && rating !== 'bad' && rating !== 'open') return undefined
  const found = Array.isArray(places) ? places.slice(0, MAX_PLACES).flatMap((one: unknown) => readPlace(one) ?? []) : []
  return {
    about: cut(about),
    verdict: cut(verdict),
    rating,
    text: cut(text),
    ...(typeof reason === 'string' && reason !== '' && { reason: cut(reason) }),
    ...(found.length > 0 && { places: found }),
  }
}

const PLACES: readonly unknown[] = [
  'instructions',
  'message',
  'answer',
  'call',
  'arguments',
  'result',
  'retrieval',
  'turn',
] satisfies readonly FindingPlace['in'][]

function readPlace(value: unknown): FindingPlace | undefined {
  if (!isObject(value) || !isPlace(value.in)) return undefined
  const { index, runId, path, document, quote } = value
  return {
    in: value.in,
    ...(isIndex(index) && { index }),
    ...(typeof runId === 'string' && { runId: cut(runId) }),
    ...(typeof path === 'string' && path !== '' && { path: cut(path) }),
    ...(isIndex(document) && { document }),
    ...(typeof quote === 'string' && { quote: cut(quote) }),
  }
}

function isPlace(value: unknown): value is FindingPlace['in'] {
  return PLACES.includes(value)
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).toWellFormed()}…`
}

/** A finding in one line: `not stated: It is warm. (no tool says so)`. */
export function findingLine({ verdict, text, reason = '' }: Finding): string {
  return `${verdict.replaceAll('_', ' ')}: ${text}${reason === '' ? '' : ` (${reason})`}`
}

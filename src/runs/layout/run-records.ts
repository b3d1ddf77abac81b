import { nodeCrypto } from '../../spans/node-crypto.ts'
import type { TraceSpan } from '../trace-span.ts'

/** A record of a run: the span that identifies it, and its calls. */
export interface RunRecord {
  readonly root: TraceSpan
  readonly models: readonly TraceSpan[]
  readonly tools: readonly TraceSpan[]
}

/** The signs by which two records of the same run are recognised. It holds no spans. */
export interface RunSigns {
  readonly library: string
  /** Which of two formats this is, if the library writes each run in two. */
  readonly form: 'newer' | 'older' | undefined
  /** For agentless model calls: whether the model's client wrote them itself. */
  readonly isOfClient: boolean | undefined
  readonly agentName: string | undefined
  readonly startMs: number
  readonly endMs: number
  readonly responseIds: readonly string[]
  /** The ids of the tool calls that ran. */
  readonly callIds: readonly string[]
  /** The last input message, if response ids do not decide. */
  readonly question: string | undefined
}

/** The largest time difference between two records of one call. */
export const MAX_APART_MS = 20

/**
 * The largest difference between the start times of two formats of a run, and between their end times if there is no response to compare. A
 * busy machine may pause the process between the two. A wider limit does no harm, because a library that writes both formats writes each
 * run in both.
 */
export const MAX_FORMS_APART_MS = 100

/** The largest difference between the start times of a client's own record and its instrumentation's. */
const MAX_CLIENT_APART_MS = 2000

/** Maximum number of runs with a similar start time, and the same response or none, that are compared. */
const MAX_COMPARED = 256

/** The signs of a run. Its input messages are only read if response ids do not decide. */
export function signsOf({ root, models, tools }: RunRecord): RunSigns {
  const { dialect, span } = root
  const responseIds: string[] = []
  for (const { model } of models) if (model?.responseId !== undefined) responseIds.push(shortened(model.responseId))
  const callIds: string[] = []
  if (dialect.quirks?.formOfTwo !== undefined) {
    for (const { tool } of tools) if (tool?.id !== undefined) callIds.push(shortened(tool.id))
  }
  const isDecided = responseIds.length > 0 && callIds.length === 0
  return {
    library: dialect.name,
    form: dialect.quirks?.formOfTwo,
    isOfClient: root.role === 'model' ? dialect.quirks?.isOfClient === true : undefined,
    agentName: shortened(root.agent?.name),
    startMs: span.startTimeMs,
    endMs: span.endTimeMs,
    responseIds,
    callIds,
    question: !isDecided && dialect.quirks?.formOfTwo !== undefined ? shortened(root.input?.at(-1)?.text) : undefined,
  }
}

/** Longer texts are kept as their hash, because the signs of many runs are kept. */
const MAX_CHARACTERS = 200

function shortened<Text extends string | undefined>(text: Text): Text | string {
  return text === undefined || text.length <= MAX_CHARACTERS ? text : nodeCrypto().hash('sha256', text, 'base64')
}

/**
 * Whether two records are of the same run: in the two formats of its library, or from a model's client and an instrumentation of that
 * client.
 */
export function isSameRun(left: RunSigns, right: RunSigns): boolean {
  if (left.form === 'older' && right.form === 'newer') return isOtherForm(left, right)
  if (left.form === 'newer' && right.form === 'older') return isOtherForm(right, left)
  if (left.isOfClient === true && right.isOfClient === false) return isOfItsClient(left, right)
  return left.isOfClient === false && right.isOfClient === true && isOfItsClient(right, left)
}

/** Whether both have the same agent and start time. Response ids alone are not enough, because a test server may repeat them. */
function isOtherForm(older: RunSigns, newer: RunSigns): boolean {
  const apartMs = Math.abs(older.startMs - newer.startMs)
  if (apartMs > MAX_FORMS_APART_MS || older.library !== newer.library) return false
  if (older.agentName !== newer.agentName) return false
  if (older.responseIds.length > 0) return isAmong(older.responseIds, newer)
  // If a stream was aborted, only one of the two may have the response id.
  const mayBeSame = newer.responseIds.length === 0 || older.callIds.some((id) => newer.callIds.includes(id))
  return mayBeSame && Math.abs(older.endMs - newer.endMs) <= MAX_FORMS_APART_MS && older.question === newer.question
}

function isOfItsClient(ofClient: RunSigns, other: RunSigns): boolean {
  return (
    ofClient.responseIds.length > 0 &&
    Math.abs(ofClient.startMs - other.startMs) <= MAX_CLIENT_APART_MS &&
    isAmong(ofClient.responseIds, other)
  )
}

function isAmong(ids: readonly string[], { responseIds }: RunSigns): boolean {
  return ids.every((id) => responseIds.includes(id))
}

/** Runs among which other records of a run are searched, by the second in which they began. */
export class RunRecords<Run> {
  readonly #seconds = new Map<number, Second<Run>>()

  add(signs: RunSigns, run: Run): void {
    const second = secondOf(signs)
    let ofSecond = this.#seconds.get(second)
    if (ofSecond === undefined) {
      ofSecond = { byId: new Map(), unanswered: [] }
      this.#seconds.set(second, ofSecond)
    }
    const { byId, unanswered } = ofSecond
    const entry = { signs, run }
    for (const id of signs.responseIds) addTo(byId, id, entry)
    for (const id of signs.callIds) addTo(byId, id, entry)
    if (signs.responseIds.length === 0) unanswered.push(entry)
  }

  /** Another record of the same run, if there is one. */
  find(signs: RunSigns): Run | undefined {
    for (const offset of [0, -1, 1, -2, 2]) {
      const ofSecond = this.#seconds.get(secondOf(signs) + offset)
      if (ofSecond === undefined) continue
      for (const entries of candidatesFor(signs, ofSecond)) {
        const found = entries.slice(0, MAX_COMPARED).find((entry) => isSameRun(signs, entry.signs))
        if (found !== undefined) return found.run
      }
    }
    return undefined
  }
}

function addTo<Run>(byId: Map<string, Entry<Run>[]>, id: string, entry: Entry<Run>): void {
  const sameId = byId.get(id)
  if (sameId === undefined) byId.set(id, [entry])
  else sameId.push(entry)
}

interface Entry<Run> {
  readonly signs: RunSigns
  readonly run: Run
}

interface Second<Run> {
  /** Runs by response ids and tool call ids. */
  readonly byId: Map<string, Entry<Run>[]>
  readonly unanswered: Entry<Run>[]
}

/** The entries that may match. */
function candidatesFor<Run>(
  { responseIds, callIds }: RunSigns,
  { byId, unanswered }: Second<Run>,
): readonly (readonly Entry<Run>[])[] {
  const withSameId = (responseIds.length > 0 ? responseIds : callIds).map((id) => byId.get(id) ?? [])
  return responseIds.length > 0 ? withSameId : [...withSameId, unanswered]
}

/** The key of runs by time: two records of one run begin at nearly the same time. */
function secondOf({ startMs }: RunSigns): number {
  return Math.floor(startMs / 1000)
}

import { nodeCrypto } from '../../spans/node-crypto.ts'
import type { TraceSpan } from '../trace-span.ts'

/** A record of a run: the span that identifies it, and its model calls so far. */
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
  readonly isOpen: boolean
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

/**
 * @param isOpen whether further spans may add signs
 * @param readsQuestion whether to read the input messages if response ids do not decide
 */
export function signsOf(
  { root, models, tools }: RunRecord,
  isOpen: boolean = false,
  readsQuestion: boolean = !isOpen,
): RunSigns {
  const { dialect, span } = root
  const responseIds: string[] = []
  for (const { model } of models) if (model?.responseId !== undefined) responseIds.push(shortened(model.responseId))
  const callIds: string[] = []
  if (dialect.formOfTwo !== undefined) {
    for (const { tool } of tools) if (tool?.id !== undefined) callIds.push(shortened(tool.id))
  }
  const isDecided = responseIds.length > 0 && callIds.length === 0
  return {
    library: dialect.name,
    form: dialect.formOfTwo,
    isOfClient: root.role === 'model' ? dialect.isOfClient === true : undefined,
    agentName: shortened(root.agent?.name),
    isOpen,
    startMs: span.startTimeMs,
    endMs: span.endTimeMs,
    responseIds,
    callIds,
    question:
      readsQuestion && !isDecided && dialect.formOfTwo !== undefined ? shortened(root.input?.at(-1)?.text) : undefined,
  }
}

/** Longer texts are kept as their hash, because the signs of many runs are kept. */
const MAX_CHARACTERS = 200

function shortened<Text extends string | undefined>(text: Text): Text | string {
  return text === undefined || text.length <= MAX_CHARACTERS ? text : nodeCrypto().hash('sha256', text, 'base64')
}

/**
 * Whether two records, one of which may be open, are of the same run: in the two formats of its library, or from a model's client and an
 * instrumentation of that client.
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
  const isNamed = older.agentName === newer.agentName
  if (older.isOpen || newer.isOpen) {
    const mayBeNamed = isNamed || (older.isOpen && older.agentName === undefined)
    if (!mayBeNamed || (older.isOpen && newer.isOpen)) return mayBeNamed
    return older.isOpen ? isAmong(older.responseIds, newer) : isAmong(newer.responseIds, older)
  }
  if (!isNamed) return false
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

/** Records by the second in which their runs began. */
type Seconds<Run> = Map<number, Second<Run>>

/** Records that were added one after the other, and are dropped together. */
interface Batch<Run> {
  readonly entries: Entry<Run>[]
  /** How many of the entries can be found by second, id and answer. */
  indexed: number
  readonly seconds: Seconds<Run>
}

/**
 * Ended runs, among which other records of a run are searched. They are indexed when somebody searches: most applications write each run
 * once, so that nobody ever does.
 */
export class RunRecords<Run> {
  readonly #maxBatch: number
  #latest: Batch<Run> = newBatch()
  /** The records that were added before the latest. Thousands of runs may begin within one second. */
  #before: Batch<Run> = newBatch()

  /** @param maxSize most runs that are kept; at least the latest half of them are */
  constructor(maxSize: number = Number.POSITIVE_INFINITY) {
    this.#maxBatch = maxSize / 2
  }

  add(signs: RunSigns, run: Run): void {
    if (this.#latest.entries.length >= this.#maxBatch) {
      this.#before = this.#latest
      this.#latest = newBatch()
    }
    this.#latest.entries.push({ signs, run })
  }

  /** Another record of the same run, if there is one. */
  find(signs: RunSigns): Run | undefined {
    return findIn(indexed(this.#latest), signs) ?? findIn(indexed(this.#before), signs)
  }
}

function newBatch<Run>(): Batch<Run> {
  return { entries: [], indexed: 0, seconds: new Map() }
}

function indexed<Run>(batch: Batch<Run>): Seconds<Run> {
  const { entries, seconds } = batch
  for (const entry of entries.slice(batch.indexed)) addToIndex(seconds, entry)
  batch.indexed = entries.length
  return seconds
}

function addToIndex<Run>(seconds: Seconds<Run>, entry: Entry<Run>): void {
  const { signs } = entry
  const second = secondOf(signs)
  let ofSecond = seconds.get(second)
  if (ofSecond === undefined) {
    ofSecond = { all: [], byId: new Map(), unanswered: [] }
    seconds.set(second, ofSecond)
  }
  const { all, byId, unanswered } = ofSecond
  all.push(entry)
  for (const id of signs.responseIds) addTo(byId, id, entry)
  for (const id of signs.callIds) addTo(byId, id, entry)
  if (signs.responseIds.length === 0) unanswered.push(entry)
}

function findIn<Run>(seconds: Seconds<Run>, signs: RunSigns): Run | undefined {
  if (seconds.size === 0) return undefined
  for (const offset of [0, -1, 1, -2, 2]) {
    const ofSecond = seconds.get(secondOf(signs) + offset)
    if (ofSecond === undefined) continue
    for (const entries of candidatesFor(signs, ofSecond)) {
      const found = entries.slice(0, MAX_COMPARED).find((entry) => isSameRun(signs, entry.signs))
      if (found !== undefined) return found.run
    }
  }
  return undefined
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
  readonly all: Entry<Run>[]
  /** Runs by response ids and tool call ids. */
  readonly byId: Map<string, Entry<Run>[]>
  readonly unanswered: Entry<Run>[]
}

/** The entries that may match. Only some ids of an open run are known. */
function candidatesFor<Run>(
  { isOpen, responseIds, callIds }: RunSigns,
  { all, byId, unanswered }: Second<Run>,
): readonly (readonly Entry<Run>[])[] {
  if (isOpen) return [all]
  const withSameId = (responseIds.length > 0 ? responseIds : callIds).map((id) => byId.get(id) ?? [])
  return responseIds.length > 0 ? withSameId : [...withSameId, unanswered]
}

/** The key of runs by time: two records of one run begin at nearly the same time. */
function secondOf({ startMs }: RunSigns): number {
  return Math.floor(startMs / 1000)
}

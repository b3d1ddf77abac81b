import type { TraceSpan } from '../trace-span.ts'

/** A record of a run: the span that it is named after, and its model calls, as far as they are known by now. */
export interface RunRecord {
  readonly root: TraceSpan
  readonly models: readonly TraceSpan[]
  readonly tools: readonly TraceSpan[]
}

/** What says whether two records are of the same run. It holds no spans. */
export interface RunSigns {
  readonly library: string
  /** Where the library writes each run in two forms, which of them this is. */
  readonly form: 'newer' | 'older' | undefined
  /** Of model calls without an agent: whether the model's client wrote them itself. */
  readonly isOfClient: boolean | undefined
  readonly agentName: string | undefined
  readonly isOpen: boolean
  readonly startMs: number
  readonly endMs: number
  readonly responseIds: readonly string[]
  /** The ids of the tool calls that were executed. */
  readonly callIds: readonly string[]
  /** The last message that went in, where the ids of responses do not decide. */
  readonly question: string | undefined
}

/** How far the two records of one call may lie apart. */
export const MAX_APART_MS = 20

/**
 * How far the starts of two forms of a run may lie apart, and where there is no response to compare, their ends too. A busy machine
 * may stop a process between the two; a wider limit does no harm, because a library that writes both forms writes each run in both.
 */
export const MAX_FORMS_APART_MS = 100

/** How far the starts of a client's own record and its instrumentation's may lie apart. */
const MAX_CLIENT_APART_MS = 2000

/** How many that begin at about the same time, and have the same response or none, are compared with one another. */
const MAX_COMPARED = 256

/**
 * @param isOpen Whether further spans may say more.
 * @param readsQuestion Whether the messages that went in are read where the ids of responses do not decide.
 */
export function signsOf(
  { root, models, tools }: RunRecord,
  isOpen: boolean = false,
  readsQuestion: boolean = !isOpen,
): RunSigns {
  const { dialect, span } = root
  const responseIds = models.flatMap((model) => model.model?.responseId ?? [])
  const callIds = dialect.formOfTwo === undefined ? [] : tools.flatMap(({ tool }) => tool?.id ?? [])
  const isDecided = responseIds.length > 0 && callIds.length === 0
  return {
    library: dialect.name,
    form: dialect.formOfTwo,
    isOfClient: root.role === 'model' ? dialect.isOfClient === true : undefined,
    agentName: root.agent?.name,
    isOpen,
    startMs: span.startTimeMs,
    endMs: span.endTimeMs,
    responseIds,
    callIds,
    question: readsQuestion && !isDecided && dialect.formOfTwo !== undefined ? root.input?.at(-1)?.text : undefined,
  }
}

/**
 * Whether two records, one of which may be open, are of the same run: in the two forms in which its library writes it, or as a
 * model's client and an instrumentation around the client wrote it.
 */
export function isSameRun(left: RunSigns, right: RunSigns): boolean {
  if (left.form === 'older' && right.form === 'newer') return isOtherForm(left, right)
  if (left.form === 'newer' && right.form === 'older') return isOtherForm(right, left)
  if (left.isOfClient === true && right.isOfClient === false) return isOfItsClient(left, right)
  return left.isOfClient === false && right.isOfClient === true && isOfItsClient(right, left)
}

/** Same agent, begun at the same moment: the ids of a server in a test repeat. What is open may say more later. */
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
  // Of a stream that was aborted, only one form may name the response.
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

/** Runs that have ended, among which another record of a run is looked for. */
export class RunRecords<Run> {
  readonly #bySecond = new Map<number, Second<Run>>()
  readonly #maxSize: number
  #size = 0

  /** @param maxSize How many are kept: beyond that, those of the earliest seconds are let go of. */
  constructor(maxSize: number = Number.POSITIVE_INFINITY) {
    this.#maxSize = maxSize
  }

  add(signs: RunSigns, run: Run): void {
    const second = secondOf(signs)
    let ofSecond = this.#bySecond.get(second)
    if (ofSecond === undefined) {
      ofSecond = { all: [], byId: new Map(), unanswered: [] }
      this.#bySecond.set(second, ofSecond)
    }
    const entry = { signs, run }
    if (signs.responseIds.length === 0) ofSecond.unanswered.push(entry)
    for (const id of [...signs.responseIds, ...signs.callIds]) {
      const sameId = ofSecond.byId.get(id)
      if (sameId === undefined) ofSecond.byId.set(id, [entry])
      else sameId.push(entry)
    }
    ofSecond.all.push(entry)
    this.#size += 1
    this.#keepSize(second)
  }

  /** Another record of the same run, where there is one. */
  find(signs: RunSigns): Run | undefined {
    for (const offset of [0, -1, 1, -2, 2]) {
      const ofSecond = this.#bySecond.get(secondOf(signs) + offset)
      if (ofSecond === undefined) continue
      for (const entries of candidatesFor(signs, ofSecond)) {
        const found = entries.slice(0, MAX_COMPARED).find((entry) => isSameRun(signs, entry.signs))
        if (found !== undefined) return found.run
      }
    }
    return undefined
  }

  #keepSize(latest: number): void {
    for (const [second, { all }] of this.#bySecond) {
      if (this.#size <= this.#maxSize || second === latest) return
      this.#bySecond.delete(second)
      this.#size -= all.length
    }
  }
}

interface Entry<Run> {
  readonly signs: RunSigns
  readonly run: Run
}

interface Second<Run> {
  readonly all: Entry<Run>[]
  /** By the ids of responses and of tool calls. */
  readonly byId: Map<string, Entry<Run>[]>
  readonly unanswered: Entry<Run>[]
}

/** Of an open run only some of the ids are known. */
function candidatesFor<Run>(
  { isOpen, responseIds, callIds }: RunSigns,
  { all, byId, unanswered }: Second<Run>,
): readonly (readonly Entry<Run>[])[] {
  if (isOpen) return [all]
  const withSameId = (responseIds.length > 0 ? responseIds : callIds).map((id) => byId.get(id) ?? [])
  return responseIds.length > 0 ? withSameId : [...withSameId, unanswered]
}

/** By which runs are found: two records of one run begin within a moment. */
function secondOf({ startMs }: RunSigns): number {
  return Math.floor(startMs / 1000)
}

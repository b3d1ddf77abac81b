import { EMITTED, FINISHED } from '../log/record-states.ts'
import type { Append, DecodedRecord, ForwardedRequest, LogRecord, NewRecord, SpanLog } from '../log/span-log.ts'
import { tracesOf } from './held-message.ts'
import type { Carried, HeldMessage } from './held-message.ts'
import { OffsetStates } from './offset-states.ts'
import type { Commit, RecordState } from './offset-states.ts'

/**
 * One partition of the spans and the one of the log records with the same number, as a log. The messages stay on Kafka, and their states
 * are committed with the offset. Unfinished messages are kept in memory, unchanged.
 */
export class PartitionLog implements SpanLog {
  readonly isDurable = true
  readonly waitingToForward = 0
  readonly #states: ReadonlyMap<string, OffsetStates>
  readonly #nowMs: () => number
  /** By the offset that the service uses, which stays the same when a message is appended again. */
  readonly #held = new Map<number, HeldMessage>()
  /** By topic and position, in the order of the positions. */
  readonly #byPosition: ReadonlyMap<string, Map<number, number>>
  readonly #byTrace = new Map<string, Set<number>>()
  /** Offsets that the broker dropped before they were read. */
  readonly #dropped: { readonly topic: string; readonly from: number; readonly end: number }[] = []
  /** Those of them whose message was appended again and has come back, by topic and offset. */
  readonly #restored = new Set<string>()
  #onRecords: ((records: readonly LogRecord[]) => void) | undefined
  #nextOffset = 1
  #heldBytes = 0

  /**
   * @param commits the commit of each topic
   * @param nowMs the time of the partition
   */
  constructor(commits: ReadonlyMap<string, Commit>, nowMs: () => number) {
    this.#states = new Map([...commits].map(([topic, commit]) => [topic, new OffsetStates(commit)]))
    this.#byPosition = new Map([...commits.keys()].map((topic) => [topic, new Map<number, number>()]))
    this.#nowMs = nowMs
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Unfinished messages. */
  get held(): number {
    return this.#held.size
  }

  /** The offset of a topic to read next. */
  nextOf(topic: string): number {
    return this.#states.get(topic)?.next ?? 0
  }

  /** The last owner's state of an offset. */
  stateBefore(topic: string, position: number): RecordState {
    return this.#states.get(topic)?.before.stateOf(position) ?? 'open'
  }

  /** What to commit for each topic now. */
  commits(): ReadonlyMap<string, Commit> {
    return new Map([...this.#states].map(([topic, states]) => [topic, states.commit()]))
  }

  /**
   * Adds a message.
   *
   * @param earlier the message's earlier position and first reading time if it was appended again; `undefined` for a new one
   */
  receive(
    topic: string,
    position: number,
    record: NewRecord & { readonly decoded: DecodedRecord },
    { from, seenMs }: { readonly from?: number | undefined; readonly seenMs?: number | undefined } = {},
  ): void {
    const states = this.#states.get(topic)
    if (states === undefined) return
    const known = from === undefined ? undefined : this.#byPosition.get(topic)?.get(from)
    if (known !== undefined) {
      this.#move(known, position)
      return
    }
    const isRestored = from !== undefined && this.#isRestored(topic, from)
    const state = this.stateBefore(topic, isRestored ? from : position)
    // An appended message that is no longer held was finished before it came back.
    const isOver = from !== undefined && position >= states.before.end && !isRestored
    const traceIds = tracesOf(record.decoded)
    if (isOver || state === 'finished' || traceIds.length === 0) {
      states.add(position, 'finished')
      return
    }
    states.add(position, state)
    this.#hold(topic, position, record, traceIds, state, seenMs)
  }

  get topics(): Iterable<string> {
    return this.#states.keys()
  }

  /** The positions of a topic's needed messages, in order. */
  positions(topic: string): Iterable<number> {
    return this.#byPosition.get(topic)?.keys() ?? []
  }

  /** An unreadable message: nothing after it is committed before `pass`. */
  keep(topic: string, position: number): void {
    this.#states.get(topic)?.add(position, 'open')
  }

  /** A message is finished. */
  pass(topic: string, position: number): void {
    this.#states.get(topic)?.add(position, 'finished')
  }

  /** There is no message before an offset that was not read. */
  advance(topic: string, next: number): void {
    this.#states.get(topic)?.advance(next)
  }

  /** The broker dropped everything before an offset. @returns how many messages are lost that were not scored */
  skipTo(topic: string, first: number): number {
    const states = this.#states.get(topic)
    if (states === undefined) return 0
    this.#dropped.push({ topic, from: states.next, end: first })
    return states.skipTo(first)
  }

  /** Whether this is the first copy of a message that was dropped before this owner could read it. */
  #isRestored(topic: string, from: number): boolean {
    const isDropped = this.#dropped.some((each) => each.topic === topic && from >= each.from && from < each.end)
    const name = `${topic} ${from}`
    if (!isDropped || this.stateBefore(topic, from) === 'finished' || this.#restored.has(name)) return false
    this.#restored.add(name)
    return true
  }

  /** The messages that hold back a topic's commit, oldest first. */
  oldest(topic: string, limit: number): readonly Carried[] {
    const oldest: Carried[] = []
    for (const offset of this.#byPosition.get(topic)?.values() ?? []) {
      if (oldest.length === limit) break
      const held = this.#held.get(offset)
      if (held === undefined || held.isUnderWay) continue
      const { record, position, traceIds } = held
      oldest.push({ topic, position, traceId: traceIds[0] ?? '', body: record.body, timeMs: record.timeMs })
    }
    return oldest
  }

  /** Messages are being appended again, or could not be. Those in progress are not among the oldest. */
  setUnderWay(messages: readonly Carried[], isUnderWay: boolean): void {
    for (const { topic, position } of messages) {
      const held = this.#held.get(this.#byPosition.get(topic)?.get(position) ?? 0)
      if (held !== undefined) held.isUnderWay = isUnderWay
    }
  }

  append(_append: Append): Promise<void> {
    return Promise.reject(new Error('Expected spans to come through Kafka: a worker takes no requests.'))
  }

  read(onRecords: (records: readonly LogRecord[]) => void): void {
    this.#onRecords = onRecords
  }

  readRecord(offset: number): LogRecord | undefined {
    return this.#held.get(offset)?.record
  }

  update({ finished, states }: Parameters<SpanLog['update']>[0]): void {
    const touched = new Set<string>()
    for (const [offset, ofIndex] of states) {
      const held = this.#held.get(offset)
      if (held === undefined) continue
      const isEmitted = ofIndex.every((state) => state === EMITTED || state === FINISHED)
      held.isPartly = ofIndex.includes(FINISHED)
      this.#setState(held, isEmitted ? 'emitted' : 'open')
      for (const traceId of held.traceIds) touched.add(traceId)
    }
    for (const offset of finished) {
      const held = this.#held.get(offset)
      if (held === undefined) continue
      held.isDone = true
      held.isPartly = false
      this.#setState(held, 'emitted')
      for (const traceId of held.traceIds) touched.add(traceId)
    }
    for (const traceId of touched) this.#release(traceId)
  }

  nextToForward(): readonly ForwardedRequest[] {
    return []
  }

  forwarded(): void {
    // Nothing is forwarded: the Collector that wrote to Kafka does that.
  }

  latestOffsetBefore(timeMs: number): number {
    let latest = 0
    for (const [offset, { record }] of this.#held) if (record.timeMs < timeMs) latest = Math.max(latest, offset)
    return latest
  }

  dropForwardedBefore(): number {
    return 0
  }

  close(): void {
    this.#onRecords = undefined
  }

  #hold(
    topic: string,
    position: number,
    record: NewRecord & { readonly decoded: DecodedRecord },
    traceIds: readonly string[],
    state: 'open' | 'emitted',
    seenMs: number | undefined,
  ): void {
    const offset = this.#nextOffset++
    const { decoded, ...kept } = record
    const count = decoded.spans.length + decoded.logs.length
    const placed: LogRecord = {
      ...kept,
      offset,
      timeMs: seenMs ?? this.#nowMs(),
      ...(seenMs !== undefined && { isReadAgain: true }),
      ...(state === 'emitted' && { states: new Uint8Array(count).fill(EMITTED) }),
    }
    this.#held.set(offset, {
      record: placed,
      traceIds,
      topic,
      position,
      state,
      isPartly: false,
      isUnderWay: false,
      isDone: false,
    })
    this.#byPosition.get(topic)?.set(position, offset)
    this.#heldBytes += record.body.byteLength
    for (const traceId of traceIds) {
      const ofTrace = this.#byTrace.get(traceId)
      if (ofTrace === undefined) this.#byTrace.set(traceId, new Set([offset]))
      else ofTrace.add(offset)
    }
    this.#onRecords?.([{ ...placed, decoded }])
  }

  #setState(held: HeldMessage, state: 'open' | 'emitted'): void {
    held.state = state
    this.#states.get(held.topic)?.set(held.position, state)
  }

  /**
   * Releases the finished messages of a trace. While any run still needs a message, the whole trace stays: read again without the rest, its
   * spans would look like half a run.
   */
  #release(traceId: string): void {
    const ofTrace = [...(this.#byTrace.get(traceId) ?? [])]
    if (ofTrace.some((offset) => this.#held.get(offset)?.isPartly === true)) return
    for (const offset of ofTrace) {
      const held = this.#held.get(offset)
      if (held?.isDone === true && held.traceIds.every((other) => other === traceId || !this.#isShared(other))) {
        this.#drop(offset, held)
      }
    }
  }

  #isShared(traceId: string): boolean {
    return [...(this.#byTrace.get(traceId) ?? [])].some((offset) => this.#held.get(offset)?.isPartly === true)
  }

  #drop(offset: number, { record, traceIds, topic, position }: HeldMessage): void {
    this.#held.delete(offset)
    this.#byPosition.get(topic)?.delete(position)
    this.#heldBytes -= record.body.byteLength
    this.#states.get(topic)?.set(position, 'finished')
    for (const traceId of traceIds) {
      const ofTrace = this.#byTrace.get(traceId)
      ofTrace?.delete(offset)
      if (ofTrace?.size === 0) this.#byTrace.delete(traceId)
    }
  }

  #move(offset: number, position: number): void {
    const held = this.#held.get(offset)
    if (held === undefined) return
    const { topic } = held
    this.#states.get(topic)?.set(held.position, 'finished')
    this.#byPosition.get(topic)?.delete(held.position)
    held.position = position
    held.isUnderWay = false
    this.#states.get(topic)?.add(position, held.state)
    this.#byPosition.get(topic)?.set(position, offset)
  }
}

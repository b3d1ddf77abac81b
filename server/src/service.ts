import { setTimeout as sleep } from 'node:timers/promises'

import { BoundedMap } from 'spanscore/engine'
import type { AgentRun } from 'spanscore/engine'

import { RecordContents } from './log/record-contents.ts'
import { releaseBody } from './log/record-body.ts'
import { EMITTED, FINISHED, RecordStates } from './log/record-states.ts'
import type { DecodedRecord, LogRecord, SpanLog } from './log/span-log.ts'
import type { RequestReader } from './receive/read-request.ts'
import { RunSpans } from './score/run-spans.ts'
import { ServicesInTurn } from './score/services-in-turn.ts'
import { SettledRuns } from './score/settled-runs.ts'
import type { OfferedRun, RunScorer } from './score/run-scorer.ts'
import type { Conversations } from './conversations/conversations.ts'
import type { KeptTurn } from './log/turn-table.ts'
import type { Outbox } from './send/outbox.ts'
import type { GatheredRecords } from './send/gathered-scores.ts'
import type { LogPosition } from './traces/held-span.ts'
import type { FinishedSpans, HeldTraces, SettledSpans } from './traces/held-traces.ts'
import type { ServiceObserver } from './service-observer.ts'
import { Breather } from './breather.ts'
import { withTimeout } from './with-timeout.ts'

/** The parts of a scoring service. */
export interface ServiceParts {
  readonly log: SpanLog
  readonly reader: RequestReader
  readonly buffer: HeldTraces
  readonly scorer: RunScorer
  readonly outbox: Outbox
  /** Records written since the last call. */
  readonly take: () => GatheredRecords
  readonly report: (message: string) => void
  /** The time by which runs are complete, in milliseconds. It does not change when somebody sets the clock. */
  readonly nowMs: () => number
  /** Records of the log from before that moment are deleted, whether their scores were delivered or not. In milliseconds since the epoch. @default never */
  readonly expiresBeforeMs?: () => number
  /** Collects runs to conversations. @default they are scored alone */
  readonly conversations?: Conversations | undefined
  /** Observes what happens to runs; the page is one. */
  readonly observer?: ServiceObserver | undefined
}

/** The service's own counts, besides those of its parts. */
export interface ServiceCounts {
  /** Records of the log that could not be decoded. */
  undecodable: number
  /** Runs that were scored. */
  runs: number
  /** Revisions of runs that had been scored. */
  revisions: number
  /** Units that could not be scored because of an internal error. */
  errors: number
  /** Requests that were dropped before they could be forwarded, because they were too old. */
  expiredRequests: number
  /** Spans with the ids of a run whose scores were delivered, and which no longer waited for late spans. */
  repeated: number
}

/** How many of the runs with delivered scores are remembered. */
const MAX_DELIVERED = 100_000

/** How many revisions of a run judges are asked about: the first one, and two more. */
const MAX_JUDGED = 3

/** How many milliseconds a stopping service waits for a destination that was already unavailable. */
const FAILING_MS = 1000

/** How often the buffer is checked for due units. */
const SWEEP_MS = 100
/** How often old data is deleted. */
const EXPIRE_EVERY_MS = 600_000
/** How many milliseconds runs wait while scorers are busy or scoring is paused. */
const BUSY_MS = 5

/** Turns records of the log into acknowledged scores. */
export class Service {
  readonly #parts: ServiceParts
  readonly #states: RecordStates
  readonly #contents: RecordContents
  readonly #runs: SettledRuns
  /** Those that are complete and wait to be scored. */
  readonly #settled = new ServicesInTurn<SettledSpans>()
  /** Ids of runs. Whoever sends their spans again, with other content or another service's name, changes nothing. */
  readonly #deliveredRuns = new BoundedMap<string, true>(MAX_DELIVERED)
  /** Traces that were to be forgotten. */
  readonly #forgotten = new BoundedMap<string, true>(MAX_DELIVERED)
  readonly counts: ServiceCounts = { undecodable: 0, runs: 0, revisions: 0, errors: 0, expiredRequests: 0, repeated: 0 }
  #timer: NodeJS.Timeout | undefined
  #isSweeping = false
  #isStopping = false
  #isPaused = false
  #latestSweepMs: number
  #nextSettlingMs = 0
  #nextExpiryMs = 0
  readonly #scoring = new Set<Promise<void>>()
  /** Delivered runs that are being stored. */
  readonly #storing = new Set<Promise<void>>()
  readonly #released = new AbortController()

  constructor(parts: ServiceParts) {
    this.#parts = parts
    this.#states = new RecordStates(parts.log)
    this.#contents = new RecordContents(parts.log, (record) => parts.reader.bodyOf(record))
    this.#runs = new SettledRuns(parts.reader, this.#contents)
    this.#latestSweepMs = parts.nowMs()
  }

  /** When due units were last checked. */
  get latestSweepMs(): number {
    return this.#latestSweepMs
  }

  /** Runs that are being scored. */
  get scoring(): number {
    return this.#scoring.size
  }

  /** Reads the log, then new records. */
  start(): void {
    // Senders resend what they could not send while the service was down, so records from the log start waiting now.
    this.#parts.log.read((records) => this.#take(records))
    this.#timer = setInterval(() => void this.sweep(), SWEEP_MS)
  }

  /** Scores what is due. */
  async sweep(): Promise<void> {
    const { buffer, outbox, nowMs, expiresBeforeMs } = this.#parts
    this.#latestSweepMs = nowMs()
    const beforeMs = expiresBeforeMs?.()
    if (beforeMs !== undefined && beforeMs >= this.#nextExpiryMs) this.#expire(beforeMs)
    try {
      this.#finish(buffer.makeRoom(nowMs()))
      // Runs whose scores cannot be delivered would be missing in their conversations. Those that are over do not wait for many runs to be scored.
      if (outbox.failingForMs === 0 && !this.#isPaused && !this.#isStopping) this.#parts.conversations?.sweep()
    } catch (error) {
      this.#failed(error)
    }
    // While scores cannot be delivered, spans stay on the log and their runs unscored.
    if (this.#isSweeping || this.#isPaused || outbox.isFull) return
    this.#isSweeping = true
    try {
      this.#settle()
      if (!(await this.#scoreSettled())) this.#contents.forget()
    } catch (error) {
      this.#failed(error)
    }
    this.#isSweeping = false
  }

  /** Drops traces that are to be forgotten. What is being scored of them may still be delivered; nothing of it is kept. */
  forget(traceIds: ReadonlySet<string>): void {
    for (const traceId of traceIds) this.#forgotten.set(traceId, true)
    this.#finish(this.#parts.buffer.forget(traceIds))
    this.#contents.forget()
  }

  /** Pauses scoring until `resume`. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
  }

  /** Releases the log: another process scores what is not scored. */
  release(): void {
    this.#isStopping = true
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#released.abort()
    this.#parts.log.close()
  }

  /** Ends the work: complete runs are scored, the rest stays on the log. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true
    clearInterval(this.#timer)
    this.#timer = undefined
    const { conversations, log, nowMs, outbox, report } = this.#parts
    const endMs = nowMs() + timeoutMs
    // An unavailable destination is not waited for, because undelivered scores can be computed again from the log.
    const leftMs = (): number =>
      Math.max(0, Math.min(endMs - nowMs(), outbox.failingForMs > 0 ? FAILING_MS : timeoutMs))
    await withTimeout(leftMs(), Promise.all([...this.#scoring, conversations?.settled()]))
    await outbox.flush(leftMs())
    await withTimeout(leftMs(), Promise.all([...this.#storing, conversations?.stored()]))
    const { undelivered } = outbox
    await withTimeout(leftMs(), outbox.shutdown())
    if (undelivered > 0) {
      report(
        `The scores of ${undelivered} runs were not delivered: ${log.isDurable ? 'their spans stay on the log, and are scored again at the next start' : 'they are lost, because nothing is kept on disk'}.`,
      )
    }
    log.close()
  }

  /** Takes what is complete, also while many other runs wait to be scored. */
  #settle(): void {
    const { buffer, nowMs } = this.#parts
    const { settled, finished, freed } = buffer.settle(nowMs())
    this.#mark(freed, FINISHED)
    this.#finish(finished)
    for (const each of settled) this.#settled.add(each.spans[0]?.resource['service.name'], each)
    this.#nextSettlingMs = nowMs() + SWEEP_MS
  }

  /** @returns whether there was anything to score */
  async #scoreSettled(): Promise<boolean> {
    const breather = new Breather()
    let scored = 0
    for (let each = this.#settled.take(); each !== undefined; each = this.#settled.take()) {
      scored += 1
      if (each.spans.every(({ isLeftOut }) => isLeftOut)) continue
      if (this.#parts.outbox.isFull) await this.#parts.outbox.room()
      // After an outage many runs are complete together. They wait here, where nothing is refused.
      while ((this.#isPaused || this.#parts.scorer.isBusy) && !this.#isStopping) await sleep(BUSY_MS)
      if (this.#isStopping) break
      await this.#track(this.#score(each, breather))
      // Follow-up work of a scored run precedes the next run.
      await (breather.hasRoomFor(0) ? undefined : breather.next())
      if (this.#parts.nowMs() >= this.#nextSettlingMs) this.#settle()
    }
    return scored > 0
  }

  #track(scoring: Promise<void>): Promise<void> {
    const tracked = scoring.finally(() => this.#scoring.delete(tracked))
    this.#scoring.add(tracked)
    return tracked
  }

  #take(records: readonly LogRecord[]): void {
    const { observer } = this.#parts
    const held = records.filter((record) => this.#takeOne(record))
    this.#states.write()
    observer?.arrived(held)
  }

  /** @returns whether anything of it is held */
  #takeOne(record: LogRecord): boolean {
    const { buffer, nowMs } = this.#parts
    const { offset, states, timeMs, isReadAgain } = record
    const decoded = record.decoded ?? this.#decoded(record)
    const count = decoded === undefined ? 0 : decoded.spans.length + decoded.logs.length
    this.#states.begin(offset, count, states)
    if (decoded === undefined) return false
    const stateOf = states === undefined ? undefined : (index: number) => this.#states.get(offset, index)
    const left = buffer.add(offset, decoded, isReadAgain === true ? timeMs : nowMs(), stateOf)
    for (const index of left) this.#states.set(offset, index, FINISHED)
    releaseBody(decoded.bytes.body)
    return left.length < count
  }

  #decoded(record: LogRecord): DecodedRecord | undefined {
    try {
      return this.#parts.reader.decode(record)
    } catch {
      this.counts.undecodable += 1
      return undefined
    }
  }

  /** Resolves when all runs were passed to the scorers. */
  async #score(settled: SettledSpans, breather: Breather): Promise<void> {
    const { buffer, conversations, nowMs, observer, scorer } = this.#parts
    try {
      const offers = await this.#offersOf(settled, breather)
      // The runs hold what they need.
      buffer.scored(settled)
      observer?.settled(settled, offers)
      if (!breather.hasRoomFor(settled.spans.length)) await breather.next()
      const scores = []
      for (const offered of offers) {
        if (breather.isOver) await breather.next()
        while (scorer.isBusy && !this.#isStopping) await sleep(BUSY_MS)
        scores.push(scorer.offer(offered, this.#released.signal))
      }
      const runIds = offers.flatMap(({ run }) => idsOf(run))
      const turns = (await conversations?.turnsOf(offers.map(({ run }) => run))) ?? []
      void this.#track(this.#deliver(settled, scores, { runIds, turns }))
    } catch (error) {
      this.#failed(error)
      // The same error would occur again, so the spans are treated as scored, and counted.
      buffer.emitted(settled, nowMs())
    }
  }

  async #deliver(settled: SettledSpans, scores: readonly Promise<boolean>[], runs: DeliveredRuns): Promise<void> {
    const { buffer, nowMs, outbox, take } = this.#parts
    try {
      // The spans of a run that another process scores stay on the log.
      if ((await Promise.all(scores)).includes(false)) return
      // Records of other runs that are being scored may be included: they are delivered before those runs' own parcels.
      outbox.add({ ...take(), onDelivered: () => this.#store(() => this.#delivered(settled, runs)) })
    } catch (error) {
      this.#failed(error)
      buffer.emitted(settled, nowMs())
    }
  }

  /** A run is only marked as delivered once the observer has it as well: until then, it is scored again after a crash. */
  #store(then: () => void): void {
    const { observer } = this.#parts
    if (observer === undefined) return then()
    const storing = observer.stored().then(() => {
      this.#storing.delete(storing)
      then()
    })
    this.#storing.add(storing)
  }

  #delivered(settled: SettledSpans, { runIds, turns }: DeliveredRuns): void {
    for (const id of runIds) this.#deliveredRuns.set(id, true)
    for (const span of settled.spans) this.#mark([span, ...span.usedLogs], EMITTED)
    this.#states.write()
    // They are written in the same transaction as the states.
    this.#parts.conversations?.keep(turns.filter(({ member }) => this.#forgotten.get(member.run.traceId) === undefined))
    this.#parts.buffer.emitted(settled, this.#parts.nowMs())
  }

  /** The settled runs that have not been scored in their current state. */
  async #offersOf(settled: SettledSpans, breather: Breather): Promise<OfferedRun[]> {
    const runs = await this.#runs.of(settled, breather)
    const found = new RunSpans(settled)
    return runs.flatMap((run) => {
      const { spans, isNew, hasBeenScored } = found.of(run)
      if (!isNew) return []
      if (this.#isRepeated(run, found)) {
        this.counts.repeated += spans.count
        found.leaveOut(run)
        this.#parts.report(
          'Spans came again for a run whose scores were delivered, later than --linger. They are left out.',
        )
        return []
      }
      if (hasBeenScored) this.counts.revisions += 1
      else this.counts.runs += 1
      // Somebody may send a late span every few seconds: code scores each revision, and judges see some.
      return [{ run, spans, isCounted: !hasBeenScored, isJudgedEnough: found.offered(run) >= MAX_JUDGED }]
    })
  }

  /** Whether the scores of a run or of one that it started were delivered, although their spans are new. */
  #isRepeated(run: AgentRun, found: RunSpans): boolean {
    const isRepeated = this.#deliveredRuns.get(run.id) === true && !found.of(run).hasBeenScored
    return isRepeated || run.children.some((child) => this.#isRepeated(child, found))
  }

  /** These spans are no longer needed. */
  #finish(finished: readonly FinishedSpans[]): void {
    const { observer } = this.#parts
    for (const { spans, traceId } of finished) {
      for (const span of spans) this.#mark([span, ...(span.held ?? [])], FINISHED)
      const spanIds = Array.from(spans, ({ spanId }) => spanId)
      observer?.finished(traceId, spanIds)
    }
    this.#states.write()
  }

  /** Content is deleted after a time, even if its scores could never be delivered. */
  #expire(beforeMs: number): void {
    const { buffer, log } = this.#parts
    this.#nextExpiryMs = beforeMs + EXPIRE_EVERY_MS
    this.#finish(buffer.expire(log.latestOffsetBefore(beforeMs)))
    this.counts.expiredRequests += log.dropForwardedBefore(beforeMs)
    log.turns?.forgetBefore(beforeMs)
  }

  /** Sets the state of spans and log records. */
  #mark(places: Iterable<LogPosition>, state: number): void {
    for (const { offset, index } of places) this.#states.set(offset, index, state)
  }

  #failed(error: unknown): void {
    this.counts.errors += 1
    // An error message may quote its subject.
    this.#parts.report(
      `A run could not be scored because of an error in the service: ${error instanceof Error ? error.name : 'unknown'}.`,
    )
  }
}

/** What the service remembers of runs whose scores were delivered. */
interface DeliveredRuns {
  readonly runIds: readonly string[]
  /** What they add to their conversations. */
  readonly turns: readonly KeptTurn[]
}

/** The ids of a run and of those that it started. */
function idsOf({ id, children }: AgentRun): readonly string[] {
  return [id, ...children.flatMap(idsOf)]
}

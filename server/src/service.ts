import { buildRuns } from 'spanscore/engine'
import type { AgentRun } from 'spanscore/engine'

import type { DecodedSpans, EmittedRun, LogRecord, SpanLog } from './log/span-log.ts'
import type { RequestReader } from './receive/read-request.ts'
import { spanIdsOf } from './score/run-spans.ts'
import type { OfferedRun, RunScorer } from './score/run-scorer.ts'
import type { Outbox } from './send/outbox.ts'
import type { GatheredRecords } from './send/service-signals.ts'
import type { HeldSpan } from './traces/held-span.ts'
import type { SettledSpans, TraceBuffer } from './traces/trace-buffer.ts'
import type { RunUnit } from './traces/run-unit.ts'
import type { ServiceObserver } from './service-observer.ts'

/** What a scoring service is made of. */
export interface ServiceParts {
  readonly log: SpanLog
  readonly reader: RequestReader
  readonly buffer: TraceBuffer
  readonly scorer: RunScorer
  readonly outbox: Outbox
  /** What was written for a run since the last call, by the resource of its service. */
  readonly take: (run: AgentRun) => GatheredRecords
  readonly report: (message: string) => void
  /** Milliseconds since the epoch: the time of the log. */
  readonly nowMs: () => number
  /** Sees what happens to runs; the page is one. */
  readonly observer?: ServiceObserver | undefined
}

/** What the service counts beside its parts. */
export interface ServiceCounts {
  /** Records that could not be decoded when they were read back. */
  undecodable: number
  /** Runs that were put before the scorers. */
  runs: number
  /** Revisions of runs that had been scored. */
  revisions: number
  /** Units that could not be scored because of an error of ours. */
  errors: number
}

/** How often the buffer is asked for what is due. */
const SWEEP_MS = 100

/** Milliseconds of work in one turn of the event loop. */
const SLICE_MS = 20

/** From records of the log to scores that were acknowledged. */
export class Service {
  readonly #parts: ServiceParts
  readonly counts: ServiceCounts = { undecodable: 0, runs: 0, revisions: 0, errors: 0 }
  #timer: NodeJS.Timeout | undefined
  #isSweeping = false
  #latestSweepMs: number
  readonly #scoring = new Set<Promise<void>>()

  constructor(parts: ServiceParts) {
    this.#parts = parts
    this.#latestSweepMs = parts.nowMs()
  }

  /** When the service last looked for what is due: milliseconds since the epoch. */
  get latestSweepMs(): number {
    return this.#latestSweepMs
  }

  /** Runs that are with the scorers. */
  get scoring(): number {
    return this.#scoring.size
  }

  /** Reads what is on the log, and from then on what comes. */
  start(): void {
    // Senders keep what they could not send while the service was away: what was read back is as quiet as if it came now.
    this.#parts.log.read((records) => this.#take(records))
    this.#timer = setInterval(() => void this.sweep(), SWEEP_MS)
  }

  /** Scores what is due. */
  async sweep(): Promise<void> {
    const { buffer, outbox, nowMs } = this.#parts
    this.#latestSweepMs = nowMs()
    // While scores cannot be delivered, spans stay on the log and their runs unscored.
    if (this.#isSweeping || outbox.isFull) return
    this.#isSweeping = true
    try {
      const { settled, finished, freed } = buffer.settle(nowMs())
      this.#parts.log.finish(freed)
      for (const unit of finished) {
        this.#finish(unit)
        this.#parts.observer?.finished(unit.traceId)
      }
      await this.#scoreAll(settled)
    } catch (error) {
      this.#failed(error)
    }
    this.#isSweeping = false
  }

  /** Ends the work: what is complete is scored; what is not stays on the log. */
  async stop(timeoutMs: number): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, timeoutMs).unref())
    await Promise.race([Promise.all(this.#scoring), deadline])
    await this.#parts.outbox.flush(timeoutMs)
    await this.#parts.outbox.shutdown()
    this.#parts.log.close()
  }

  async #scoreAll(settled: readonly SettledSpans[]): Promise<void> {
    let startMs = performance.now()
    for (const each of settled) {
      const scoring = this.#score(each).finally(() => this.#scoring.delete(scoring))
      this.#scoring.add(scoring)
      if (performance.now() - startMs < SLICE_MS) continue
      await new Promise((resolve) => setImmediate(resolve))
      startMs = performance.now()
    }
  }

  #take(records: readonly LogRecord[]): void {
    const { buffer, log, nowMs, observer } = this.#parts
    const finished: number[] = []
    const held: LogRecord[] = []
    for (const record of records) {
      const decoded = this.#decoded(record)
      if (decoded === undefined || !buffer.add(record.offset, decoded.spans, decoded.logs, nowMs())) {
        finished.push(record.offset)
      } else if (observer !== undefined) held.push(record)
    }
    log.finish(finished)
    observer?.arrived(held)
  }

  #decoded(record: LogRecord): DecodedSpans | undefined {
    if (record.decoded !== undefined) return record.decoded
    try {
      return this.#parts.reader.decode(record)
    } catch {
      this.counts.undecodable += 1
      return undefined
    }
  }

  async #score(settled: SettledSpans): Promise<void> {
    const { buffer, nowMs, outbox, take } = this.#parts
    try {
      const offers = this.#offersOf(settled)
      this.#parts.observer?.settled(settled, offers)
      await Promise.all(offers.map((offered) => this.#parts.scorer.offer(offered)))
      const gathered = offers.map(({ run }) => take(run))
      outbox.add({
        logRecords: gathered.flatMap(({ logRecords }) => logRecords),
        spans: gathered.flatMap(({ spans }) => spans),
        onDelivered: () => {
          this.#parts.log.markEmitted(offers.map(emittedRun))
          buffer.emitted(settled, nowMs())
        },
      })
    } catch (error) {
      this.#failed(error)
      // An error of ours would come again: the spans are let go of as if they had been scored, and counted.
      buffer.emitted(settled, nowMs())
    }
  }

  /** The runs in what was settled that have not been scored as they are now. */
  #offersOf(settled: SettledSpans): OfferedRun[] {
    const { log } = this.#parts
    if (settled.spans.some((span) => span.source === undefined)) this.#restore(settled.traceId)
    const sources = settled.spans.flatMap(({ source }) => source ?? [])
    const logs = settled.spans.flatMap((span) => span.logs ?? [])
    const runs = buildRuns(sources, { logs, lacksSpans: settled.lacksSpans })
    return runs.flatMap((run) => {
      const spanIds = spanIdsOf(run, settled)
      const before = log.emittedSpanCount(run.traceId, run.spanId)
      if (before !== undefined && before >= spanIds.length) return []
      if (before === undefined) this.counts.runs += 1
      else this.counts.revisions += 1
      return [{ run, spanIds, isCounted: before === undefined }]
    })
  }

  #restore(traceId: string): void {
    const decoded = this.#parts.log.readTrace(traceId).flatMap((record) => this.#decoded(record) ?? [])
    this.#parts.buffer.restore(
      traceId,
      decoded.flatMap(({ spans }) => spans),
      decoded.flatMap(({ logs }) => logs),
    )
  }

  /** A record is finished when no span in it is needed; of others it is noted which spans are not. */
  #finish(unit: RunUnit): void {
    const { buffer, log } = this.#parts
    const free: number[] = []
    const byOffset = Map.groupBy<number, HeldSpan>(unit.spans, ({ offset }) => offset)
    for (const offset of unit.offsets) {
      if (!buffer.holds(unit.traceId, offset)) free.push(offset)
      else
        log.retire(
          offset,
          (byOffset.get(offset) ?? []).map(({ spanId }) => spanId),
        )
    }
    log.finish(free)
  }

  #failed(error: unknown): void {
    this.counts.errors += 1
    // The message of an error may quote what it was about.
    this.#parts.report(
      `A run could not be scored because of an error in the service: ${error instanceof Error ? error.name : 'unknown'}.`,
    )
  }
}

function emittedRun({ run, spanIds }: OfferedRun): EmittedRun {
  return { traceId: run.traceId, spanId: run.spanId, spanCount: spanIds.length }
}

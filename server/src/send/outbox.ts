import type { AcknowledgedExporter, ExportOutcome } from './acknowledged-exporter.ts'
import type { EncodedRecord, GatheredRecords } from './gathered-scores.ts'

/** The records of some runs' scores. */
export interface Parcel extends GatheredRecords {
  /** Called when everything was acknowledged or permanently refused. */
  readonly onDelivered: () => void
}

/** What the outbox counts. */
export interface OutboxCounts {
  acknowledged: number
  /** Records that the destination refused permanently. */
  refused: number
  /** Failed attempts that are retried. */
  failures: number
}

/** What an outbox needs. */
export interface OutboxParts {
  readonly logs: AcknowledgedExporter
  readonly spans: AcknowledgedExporter
  /** Gets log records too. @default none */
  readonly annotations?: AcknowledgedExporter | undefined
  readonly report: (message: string) => void
  /** Maximum number of waiting parcels before scoring pauses. @default 200 */
  readonly maxWaiting?: number
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/** Records per request. */
const BATCH = 500

/** Maximum number of waiting parcels before scoring pauses: two or three requests. Parcels that wait longer cost the garbage collector more. */
const MAX_WAITING = 200

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000

/** Sends scores until they are acknowledged. If the destination is down for long, only the log grows. */
export class Outbox {
  readonly #parts: OutboxParts
  readonly counts: OutboxCounts = { acknowledged: 0, refused: 0, failures: 0 }
  #waiting: Parcel[] = []
  /** Parcels that are being sent. */
  #underWay = 0
  #isSending = false
  #isStopped = false
  readonly #waitingForRoom: (() => void)[] = []
  #stop: () => void = () => undefined
  readonly #stopped: Promise<void>
  #failingSinceMs: number | undefined
  #trouble: string | undefined
  #hasReportedLack = false

  constructor(parts: OutboxParts) {
    this.#parts = parts
    this.#stopped = new Promise((resolve) => {
      this.#stop = resolve
    })
  }

  /** Waiting parcels. */
  get size(): number {
    return this.#waiting.length
  }

  /** Parcels that are not acknowledged yet. */
  get undelivered(): number {
    return this.#waiting.length + this.#underWay
  }

  /** Whether no more should be added. */
  get isFull(): boolean {
    return this.#waiting.length >= (this.#parts.maxWaiting ?? MAX_WAITING)
  }

  /** For how many milliseconds nothing was acknowledged although something was sent; 0 if delivery works. */
  get failingForMs(): number {
    return this.#failingSinceMs === undefined ? 0 : this.#parts.now() - this.#failingSinceMs
  }

  /** Why nothing is acknowledged; `undefined` if delivery works. */
  get trouble(): string | undefined {
    return this.#failingSinceMs === undefined ? undefined : this.#trouble
  }

  /** Parcels are delivered in the order in which they are added, because a run's records may be in the parcel before its own. */
  add(parcel: Parcel): void {
    this.#waiting.push(parcel)
    if (!this.#isSending) void this.#sendAll()
  }

  /** Resolves when more may be added, or the outbox is stopped. */
  async room(): Promise<void> {
    while (this.isFull && !this.#isStopped) {
      await new Promise<void>((resolve) => {
        this.#waitingForRoom.push(resolve)
      })
    }
  }

  /** Resolves when nothing waits, or at the timeout. */
  async flush(timeoutMs: number): Promise<void> {
    const endMs = this.#parts.now() + timeoutMs
    while ((this.#waiting.length > 0 || this.#isSending) && this.#parts.now() < endMs && !this.#isStopped)
      await this.#pause(20)
  }

  async shutdown(): Promise<void> {
    this.#isStopped = true
    this.#stop()
    this.#wake()
    await Promise.all([this.#parts.logs.shutdown(), this.#parts.spans.shutdown()])
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    while (this.#waiting.length > 0 && !this.#isStopped) {
      const parcels = this.#takeBatch()
      this.#underWay = parcels.length
      const { annotations, logs, spans } = this.#parts
      const logRecords = parcels.flatMap((parcel) => parcel.logRecords)
      await Promise.all([
        this.#sendSplitting(logs, logRecords),
        this.#sendSplitting(
          spans,
          parcels.flatMap((parcel) => parcel.spans),
        ),
        annotations === undefined ? undefined : this.#sendSplitting(annotations, logRecords),
      ])
      if (this.#isStopped) break
      this.#underWay = 0
      this.#wake()
      for (const { onDelivered } of parcels) onDelivered()
    }
    this.#isSending = false
  }

  #wake(): void {
    for (const resolve of this.#waitingForRoom.splice(0)) resolve()
  }

  #takeBatch(): readonly Parcel[] {
    let records = 0
    let count = 0
    for (const parcel of this.#waiting) {
      records += parcel.logRecords.length + parcel.spans.length
      if (count > 0 && records > BATCH) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  /** If a batch is refused, its halves are sent separately, so that only the refused records are lost. */
  async #sendSplitting(exporter: AcknowledgedExporter, items: readonly EncodedRecord[]): Promise<void> {
    const todo = items.length === 0 ? [] : [items]
    let givenUp = 0
    let why = ''
    for (let batch = todo.pop(); batch !== undefined && !this.#isStopped; batch = todo.pop()) {
      const outcome = await this.#sendUntilAnswered(exporter, batch)
      if (outcome.status === 'acknowledged') {
        this.counts.acknowledged += batch.length
        continue
      }
      if (outcome.status === 'refused' && batch.length > 1) {
        const middle = batch.length >> 1
        todo.push(batch.slice(middle), batch.slice(0, middle))
        continue
      }
      // OTLP does not say which records a partial success lacks, and forbids to send the request again.
      const lost = outcome.status === 'partly-acknowledged' ? outcome.rejected : batch.length
      this.counts.acknowledged += batch.length - lost
      this.counts.refused += lost
      if (outcome.status === 'lacking') continue
      givenUp += lost
      why = outcome.message
    }
    if (givenUp > 0) this.#parts.report(`The destination refused scores, and ${givenUp} are given up: ${why}`)
  }

  /** @returns an outcome that another attempt would not change */
  async #sendUntilAnswered(exporter: AcknowledgedExporter, batch: readonly EncodedRecord[]): Promise<ExportOutcome> {
    let pauseMs = FIRST_PAUSE_MS
    for (;;) {
      const outcome = await exporter.send(batch)
      if (outcome.status === 'acknowledged' || outcome.status === 'partly-acknowledged')
        this.#failingSinceMs = undefined
      if (outcome.status === 'lacking') {
        if (!this.#hasReportedLack) this.#parts.report(outcome.message)
        this.#hasReportedLack = true
      }
      if (outcome.status !== 'failed') return outcome
      // It is said once for each time that it begins; `trouble` says it as long as it lasts.
      if (this.trouble !== outcome.message) this.#parts.report(`Scores were not acknowledged: ${outcome.message}`)
      this.#trouble = outcome.message
      this.counts.failures += 1
      this.#failingSinceMs ??= this.#parts.now()
      if (this.#isStopped) return { status: 'refused', message: outcome.message }
      await this.#pause(pauseMs)
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    }
  }

  async #pause(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const wait = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms)
    })
    await Promise.race([wait, this.#stopped])
    clearTimeout(timer)
  }
}

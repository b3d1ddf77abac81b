import type { DecodedRecord, Signal } from '../log/span-log.ts'
import type { RequestReader } from '../receive/read-request.ts'
import { Refusal } from '../receive/refusal.ts'
import type { Service } from '../service.ts'
import type { HeldTraces } from '../traces/held-traces.ts'
import type { Topics } from './check-topics.ts'
import type { PartitionClock } from './partition-clock.ts'
import type { PartitionLog } from './partition-log.ts'
import { ReadProgress } from './read-progress.ts'
import type { FetchedRecord } from './records-of.ts'
import type { FetchSource } from './topic-fetcher.ts'
import type { WorkerCounts } from './worker-counts.ts'

/** Header of a message that was appended again: its earlier offset. */
export const CARRIED_HEADER = 'spanscore-carried'
/** Header of a message that was appended again: when it was first read, in milliseconds of the broker's time. */
export const SEEN_HEADER = 'spanscore-seen'

/** A message that cannot be read. */
export interface Unreadable {
  readonly topic: string
  readonly partition: number
  readonly record: FetchedRecord
  readonly reason: string
}

/** What a partition needs. */
export interface AssignedPartitionParts {
  readonly number: number
  readonly topics: Topics
  readonly log: PartitionLog
  readonly clock: PartitionClock
  readonly buffer: HeldTraces
  readonly service: Service
  readonly reader: RequestReader
  readonly counts: WorkerCounts
  /** Whether messages can be accepted now. */
  readonly isReady: () => boolean
  /** Whether the worker still has this partition. */
  readonly isOurs: () => boolean
  readonly monotonicMs: () => number
  readonly onUnreadable: (unreadable: Unreadable) => void
  /** A topic no longer has the offsets that were read. Called with its first offset. */
  readonly onRecreated: (topic: string, first: number) => void
  readonly report: (message: string) => void
}

/** One partition of the spans and the one of the log records with the same number, while a worker has them. */
export class AssignedPartition {
  readonly #parts: AssignedPartitionParts
  /** By topic. */
  readonly #progress: ReadonlyMap<string, ReadProgress>

  constructor(parts: AssignedPartitionParts) {
    this.#parts = parts
    const { spans, logs } = parts.topics
    this.#progress = new Map([spans, logs].map((topic) => [topic, new ReadProgress(parts.monotonicMs)]))
  }

  get number(): number {
    return this.#parts.number
  }

  get log(): PartitionLog {
    return this.#parts.log
  }

  get clock(): PartitionClock {
    return this.#parts.clock
  }

  get buffer(): HeldTraces {
    return this.#parts.buffer
  }

  get service(): Service {
    return this.#parts.service
  }

  /** Unread messages. */
  get lag(): number {
    return [...this.#progress].reduce((lag, [topic, progress]) => lag + progress.lagFrom(this.log.nextOf(topic)), 0)
  }

  /** For how many milliseconds messages have waited without any being read, although their leader answers. */
  get idleMs(): number {
    return Math.max(...[...this.#progress].map(([topic, progress]) => progress.idleMs(this.log.nextOf(topic))))
  }

  /** Whether the leader of a topic does not answer. */
  get isSilent(): boolean {
    return [...this.#progress.values()].some(({ isSilent }) => isSilent)
  }

  /** Called with the end of a topic, as its leader reports it. */
  endsAt(topic: string, end: number): void {
    this.#progress.get(topic)?.endsAt(end)
  }

  /** The positions from which the two topics are read. */
  sources(): readonly FetchSource[] {
    const { spans, logs } = this.#parts.topics
    return [this.#source(spans, 'traces'), this.#source(logs, 'logs')]
  }

  #source(topic: string, signal: Signal): FetchSource {
    const { number, log, buffer, clock, isReady, isOurs, counts, report, onRecreated } = this.#parts
    const progress = this.#progress.get(topic)
    if (!isReady()) progress?.advance()
    // A full buffer may wait for unread messages. Time must go on, or it would wait forever.
    if (buffer.isFull) clock.advance(topic, undefined, true)
    return {
      topic,
      partition: number,
      get next() {
        return isOurs() ? log.nextOf(topic) : -1
      },
      isReady: isReady() && !buffer.isFull,
      take: (records, next, end) => {
        if (records.length > 0 || next >= end) progress?.advance()
        for (const record of records) this.#receive(topic, signal, record)
        log.advance(topic, next)
        progress?.endsAt(end)
        clock.advance(topic, records.at(-1)?.appendMs, log.nextOf(topic) >= end)
      },
      lost: (first) => {
        const gone = log.skipTo(topic, first)
        if (gone === 0) return
        counts.lostToRetention += gone
        report(
          `${gone} messages of ${topic}, partition ${number}, were dropped by the broker before they were scored: raise its retention, or add workers.`,
        )
      },
      recreated: (first) => onRecreated(topic, first),
    }
  }

  #receive(topic: string, signal: Signal, record: FetchedRecord): void {
    const { log, clock, counts, reader, number, onUnreadable, report } = this.#parts
    clock.advance(topic, record.appendMs, false)
    counts.messages += 1
    const from = numberIn(record, CARRIED_HEADER)
    const seenMs = numberIn(record, SEEN_HEADER)
    if (log.stateBefore(topic, record.offset) === 'finished') {
      log.pass(topic, record.offset)
      return
    }
    try {
      const body = record.value
      const encoding = encodingOf(body)
      const { decoded, spans, invalid, tooLarge } = reader.read(body, encoding)
      counts.spans += spans
      counts.invalid += invalid - tooLarge
      counts.tooLarge += tooLarge
      if (hasSeveralTraces(decoded)) {
        report(
          `Messages of ${topic} hold spans of several traces, so that runs are split: set ${signal === 'traces' ? 'partition_traces_by_id' : 'partition_logs_by_trace_id'}: true in the Kafka exporter of the Collector.`,
        )
      }
      log.receive(topic, record.offset, { signal, encoding, contentEncoding: '', body, decoded }, { from, seenMs })
    } catch (error) {
      log.keep(topic, record.offset)
      const reason = error instanceof Refusal ? error.reason : 'error'
      onUnreadable({ topic, partition: number, record, reason })
    }
  }
}

function numberIn({ headers }: FetchedRecord, header: string): number | undefined {
  const text = headers.get(header)
  return text === undefined || !/^\d+$/.test(text) ? undefined : Number(text)
}

function hasSeveralTraces({ spans, logs }: DecodedRecord): boolean {
  let first: string | undefined
  for (const records of [spans, logs]) {
    for (const each of records) {
      first ??= each?.traceId
      if (each !== undefined && each.traceId !== first) return true
    }
  }
  return false
}

/** The Collector writes `otlp_proto` or `otlp_json`. Only the latter starts with a brace. */
function encodingOf(value: Uint8Array): 'protobuf' | 'json' {
  return value[0] === 0x7b ? 'json' : 'protobuf'
}

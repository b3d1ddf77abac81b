import { createReadStream } from 'node:fs'
import { isEvaluation } from '../attributes/event-attributes.ts'
import { isContentLog } from '../spans/content-logs.ts'
import { RecognisedSpanCounter } from '../spans/recognised-spans.ts'
import type { RecognisedSpans } from '../spans/recognised-spans.ts'
import type { SourceSpan } from '../spans/source-span.ts'
import { surroundingOf } from '../spans/surrounding.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { OtlpBatch } from './batch.ts'
import { createProtobufDecoder } from './protobuf.ts'
import { readOtlpRecords } from './records.ts'
import type { OtlpRecord } from './otlp-record.ts'
import { runsByStart } from './runs-by-start.ts'
import type { StoredRun } from './runs-by-start.ts'
import { SpanArchive } from './span-archive.ts'
import type { ArchiveEntry } from './spilled-entries.ts'
import { isLateScoreSpan } from './stored-scores.ts'
import { readTraceJson } from './trace-json.ts'
import { withOwnFacts } from '../runs/view/with-own-facts.ts'

/** An OTLP input: the path of a file, or a stream of bytes. */
export type OtlpInput = string | { readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }

/** A record, or some spans of it, that could not be read. Everything else was read. */
export interface OtlpDamage {
  /** Path or name of the input. */
  readonly input: string
  /** `line 12`, `lines 12-40` or `byte 4096`. */
  readonly place: string
  /** What was expected and what was found. */
  readonly reason: string
}

/** The contents of all inputs together. */
export interface OtlpSummary extends RecognisedSpans {
  /** Spans that were read. */
  readonly spans: number
  /** Log records that were read. */
  readonly logRecords: number
  /** Metrics requests in JSON, which are ignored. */
  readonly metricRequests: number
  /** Records that could not be read. */
  readonly damagedRecords: number
}

/** Options of `readRuns`. */
export interface ReadRunsOptions {
  /** Called with each record that could not be read. @default none */
  readonly onDamage?: (damage: OtlpDamage) => void
  /** Called after each piece of input with the number of bytes read so far. @default none */
  readonly onProgress?: (bytesRead: number) => void
  /** Called once when all input has been read, before the first run is returned. @default none */
  readonly onRead?: (summary: OtlpSummary) => void
  /**
   * Maximum bytes of input whose spans are held in memory. Above it, all spans are in a temporary database, which is removed at the end.
   * @default 67108864 (64 MiB)
   */
  readonly maxHeldBytes?: number
}

/**
 * Reads the agent runs in trace files: OTLP as JSON, as JSON lines (from the Collector's file exporter) and as protobuf (one request, or
 * requests with the Collector's four-byte length prefix); exports of Jaeger's and Tempo's APIs and pages; and lists of these. Files may be
 * compressed with gzip or zstd. Traces and logs are read together, in any order.
 *
 * Top-level runs are ordered by start time, each with its children. The spans of a trace may be anywhere in the inputs. A damaged record is
 * reported to `onDamage`, and reading continues. Rejects if an input cannot be opened or read.
 *
 * @example
 * for await (const run of readRuns(['traces.json', 'logs.json'])) console.log(run.agent.name, run.output)
 */
export async function* readRuns(
  inputs: OtlpInput | readonly OtlpInput[],
  options: ReadRunsOptions = {},
): AsyncGenerator<AgentRun, void, undefined> {
  for await (const { run } of readStoredRuns(inputs, options)) yield withOwnFacts(run)
}

/** Like `readRuns`, but each run comes with the scores that its traces already have. */
export async function* readStoredRuns(
  inputs: OtlpInput | readonly OtlpInput[],
  options: ReadRunsOptions = {},
): AsyncGenerator<StoredRun, void, undefined> {
  const archive = new SpanArchive({ maxHeldBytes: options.maxHeldBytes ?? 64 * 1024 * 1024 })
  try {
    const reader = new OtlpReader(archive, options)
    for (const input of isList(inputs) ? inputs : [inputs]) await reader.read(input)
    options.onRead?.(reader.summary)
    yield* runsByStart(archive)
  } finally {
    archive.close()
  }
}

function isList(inputs: OtlpInput | readonly OtlpInput[]): inputs is readonly OtlpInput[] {
  return Array.isArray(inputs)
}

/** Adds the inputs' contents to the archive, and counts them. */
class OtlpReader {
  readonly #archive: SpanArchive
  readonly #options: ReadRunsOptions
  readonly #counts = { spans: 0, logRecords: 0, metricRequests: 0, damagedRecords: 0 }
  readonly #recognised = new RecognisedSpanCounter()
  #decodeProtobuf: ((bytes: Uint8Array) => OtlpBatch) | undefined
  #bytesRead = 0

  constructor(archive: SpanArchive, options: ReadRunsOptions) {
    this.#archive = archive
    this.#options = options
  }

  get summary(): OtlpSummary {
    return { ...this.#counts, ...this.#recognised.counted }
  }

  async read(input: OtlpInput): Promise<void> {
    const name = typeof input === 'string' ? input : input.name
    const bytes = typeof input === 'string' ? createReadStream(input, { highWaterMark: 256 * 1024 }) : input.bytes
    let recordStart = this.#bytesRead
    for await (const record of readOtlpRecords(this.#counted(bytes))) {
      const batch = await this.#decode(record, name)
      if (batch === undefined) continue
      if (batch.invalid > 0) {
        this.#reportDamage(
          name,
          record.place,
          `${batch.invalid} spans or log records without a valid trace and span id`,
        )
      }
      if (batch.logs.some(({ eventName }) => eventName?.startsWith('codex.'))) {
        this.#reportDamage(name, record.place, CODEX)
      }
      this.#keep(batch, this.#bytesRead - recordStart)
      recordStart = this.#bytesRead
    }
  }

  async *#counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#bytesRead += chunk.length
      this.#options.onProgress?.(this.#bytesRead)
      yield chunk
    }
  }

  async #decode(record: OtlpRecord, input: string): Promise<OtlpBatch | undefined> {
    if (record.kind === 'damaged') return this.#reportDamage(input, record.place, record.reason)
    if (record.kind === 'json') {
      const { batch, unread, isMetrics } = readTraceJson(record.value)
      if (isMetrics === true) this.#counts.metricRequests++
      if (unread !== undefined) this.#reportDamage(input, record.place, unread)
      return batch
    }
    this.#decodeProtobuf ??= await createProtobufDecoder()
    try {
      return this.#decodeProtobuf(record.bytes)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return this.#reportDamage(input, record.place, `not OTLP protobuf: ${reason}`)
    }
  }

  #reportDamage(input: string, place: string, reason: string): undefined {
    this.#counts.damagedRecords++
    this.#options.onDamage?.({ input, place, reason })
  }

  #keep(batch: OtlpBatch, byteLength: number): void {
    const entries: ArchiveEntry[] = []
    this.#counts.spans += batch.spans.length
    this.#counts.logRecords += batch.logs.length
    for (const span of batch.spans) {
      const isRecognised = this.#recognised.add(span)
      entries.push({ span: isRecognised || isLateScoreSpan(span) ? span : toLink(span), isRecognised })
    }
    for (const log of batch.logs)
      if (log.traceId !== '' && (isContentLog(log) || isEvaluation(log.eventName)))
        entries.push({ log, isRecognised: false })
    this.#archive.add(entries, byteLength)
  }
}

/** Codex writes what its agent did as log records. */
const CODEX = "log records of Codex are not read: they lack the agent's answers, and the trace in which each happened"

/** Of a span that no dialect recognises, only its place in the trace is needed, its ids, what describes the runs below it, and what is said of them. */
function toLink(span: SourceSpan): SourceSpan {
  const events = span.events.filter(({ name }) => isEvaluation(name))
  return { ...span, attributes: surroundingOf(span.attributes) ?? {}, events, resource: {} }
}

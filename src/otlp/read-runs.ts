import { createReadStream } from 'node:fs'
import { isMovedContent } from '../spans/content/moved-content.ts'
import { recognise } from '../spans/recognise.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { OtlpBatch } from './batch.ts'
import { createProtobufDecoder } from './protobuf.ts'
import { readOtlpRecords } from './records.ts'
import type { OtlpRecord } from './otlp-record.ts'
import { runsByStart } from './runs-by-start.ts'
import type { StoredRun } from './runs-by-start.ts'
import { SpanArchive } from './span-archive.ts'
import type { ArchiveEntry } from './archive-entry.ts'
import { isLateScoreSpan } from './stored-scores.ts'
import { readTraceJson } from './trace-json.ts'

/** Where OTLP comes from: the path of a file, or its bytes. */
export type OtlpInput = string | { readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }

/** A record, or some spans of it, that could not be read. Everything around it was. */
export interface OtlpDamage {
  /** Path or name of the input. */
  readonly input: string
  /** `line 12`, `lines 12-40` or `byte 4096`. */
  readonly place: string
  /** What was expected and what came. */
  readonly reason: string
}

/** What all inputs together held. */
export interface OtlpSummary {
  /** Spans that were read. */
  readonly spans: number
  /** Spans whose instrumentation is known. */
  readonly recognisedSpans: number
  /** Log records that were read. */
  readonly logRecords: number
  /** Requests of metrics, in JSON: they hold nothing for runs. */
  readonly metricRequests: number
  /** Records that could not be read. */
  readonly damagedRecords: number
}

/** Settings of `readRuns`. */
export interface ReadRunsOptions {
  /** Called with each record that could not be read. @default none */
  readonly onDamage?: (damage: OtlpDamage) => void
  /** Called after each piece of input with the number of bytes read so far. @default none */
  readonly onProgress?: (bytesRead: number) => void
  /** Called once, when all input has been read and before the first run is given. @default none */
  readonly onRead?: (summary: OtlpSummary) => void
  /**
   * Bytes of input whose spans are held in memory. Beyond it they wait in a temporary file, removed when the reading ends,
   * and memory grows by some 30 bytes a span.
   * @default 67108864 (64 MiB)
   */
  readonly maxHeldBytes?: number
}

/**
 * Reads the agent runs in trace files: OTLP as JSON, as JSON lines (the Collector's file exporter writes them) and as protobuf
 * (one request, or requests behind the Collector's four bytes of length); what the APIs and pages of Jaeger and Tempo give; lists
 * of these; plain, or compressed by gzip or zstd. Traces and logs are read together, in any order.
 *
 * Top-level runs come by start time, each with its children. The spans of a trace may be anywhere in the inputs. A damaged
 * record is reported to `onDamage`, and the rest is read. Rejects where an input cannot be opened or read.
 *
 * @example
 * for await (const run of readRuns(['traces.json', 'logs.json'])) console.log(run.agent.name, run.output)
 */
export async function* readRuns(
  inputs: OtlpInput | readonly OtlpInput[],
  options: ReadRunsOptions = {},
): AsyncGenerator<AgentRun, void, undefined> {
  for await (const { run } of readStoredRuns(inputs, options)) yield run
}

/** As `readRuns`, each run with the scores that its traces already hold. */
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

/** Puts what the inputs hold into the archive, and counts. */
class OtlpReader {
  readonly #archive: SpanArchive
  readonly #options: ReadRunsOptions
  readonly #counts = { spans: 0, recognisedSpans: 0, logRecords: 0, metricRequests: 0, damagedRecords: 0 }
  #decodeProtobuf: ((bytes: Uint8Array) => OtlpBatch) | undefined
  #bytesRead = 0

  constructor(archive: SpanArchive, options: ReadRunsOptions) {
    this.#archive = archive
    this.#options = options
  }

  get summary(): OtlpSummary {
    return this.#counts
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
      const isRecognised = recognise(span.scope.name, span.attributes, span.name) !== undefined
      if (isRecognised) this.#counts.recognisedSpans++
      entries.push({ span: isRecognised || isLateScoreSpan(span) ? span : toLink(span), isRecognised })
    }
    for (const log of batch.logs) if (isContentLog(log)) entries.push({ log, isRecognised: false })
    this.#archive.add(entries, byteLength)
  }
}

/** Of a span that no dialect knows only its place in the trace is of use. */
function toLink(span: SourceSpan): SourceSpan {
  return { ...span, attributes: {}, events: [], resource: {} }
}

/** Log records with messages of a model call; the application's other ones are left out. */
function isContentLog(log: SourceLog): boolean {
  return log.traceId !== '' && (log.eventName?.startsWith('gen_ai.') === true || isMovedContent(log))
}

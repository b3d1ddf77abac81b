import { createReadStream } from 'node:fs'
import { isMovedContent } from '../spans/content/moved-content.ts'
import { recognise } from '../spans/recognise.ts'
import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { buildRuns } from '../runs/build-runs.ts'
import type { OtlpBatch } from './batch.ts'
import { readOtlpJson } from './json.ts'
import { createProtobufDecoder } from './protobuf.ts'
import { readOtlpRecords } from './records.ts'
import type { OtlpRecord } from './records.ts'
import { SpanArchive } from './span-archive.ts'
import type { ArchivedTrace, ArchiveEntry } from './span-archive.ts'

/** Where OTLP comes from: the path of a file, or its bytes. */
export type OtlpInput = string | { readonly name: string; readonly bytes: AsyncIterable<Uint8Array> }

/** A record, or some spans of it, that could not be read. Everything around it was. */
export interface OtlpDamage {
  /** Path or name of the input. */
  readonly input: string
  /** `line 12`, `lines 12-40` or `byte 4096`. */
  readonly place: string
  readonly reason: string
}

/** What all inputs together held. */
export interface OtlpSummary {
  readonly spans: number
  /** Spans whose instrumentation is known. */
  readonly recognisedSpans: number
  readonly logRecords: number
  readonly damagedRecords: number
}

/** Settings of `readRuns`. */
export interface ReadRunsOptions {
  /** Told of each record that could not be read. @default nothing is said */
  readonly onDamage?: (damage: OtlpDamage) => void
  /** Told after each piece of input how many bytes have been read. @default nothing is said */
  readonly onProgress?: (bytesRead: number) => void
  /** Told once, when all input has been read and before the first run is given. @default nothing is said */
  readonly onRead?: (summary: OtlpSummary) => void
  /**
   * Bytes of input whose spans are held in memory. Beyond it they wait in a temporary file, removed when the reading ends,
   * and memory grows by some 30 bytes a span.
   * @default 67108864 (64 MiB)
   */
  readonly maxHeldBytes?: number
}

/**
 * Reads the agent runs in OTLP files: JSON, JSON lines as the Collector's file exporter writes them, protobuf (one request,
 * or requests behind the Collector's four bytes of length); traces and logs together, in any order.
 *
 * Top-level runs come by start time, each with its children. Spans of a trace may stand anywhere in the inputs. A damaged
 * record is told to `onDamage` and the rest read. Rejects where an input cannot be opened or read.
 *
 * @example
 * for await (const run of readRuns(['traces.json', 'logs.json'])) console.log(run.agent.name, run.output)
 */
export async function* readRuns(
  inputs: OtlpInput | readonly OtlpInput[],
  options: ReadRunsOptions = {},
): AsyncGenerator<AgentRun, void, undefined> {
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

/**
 * A run may be spread over traces, or told twice, in two of them: traces are looked at together, all of them where they are
 * held in memory, else some thousand spans at a time. Runs that start after the first trace of what comes next wait.
 */
function* runsByStart(archive: SpanArchive): Generator<AgentRun> {
  let waiting: readonly AgentRun[] = []
  for (const traces of inBatches(archive.traces(), archive.isSpilled ? BATCH_SPANS : Number.POSITIVE_INFINITY)) {
    const startTimeMs = traces[0]?.startTimeMs ?? 0
    const due = waiting.filter((run) => run.startTimeMs <= startTimeMs)
    yield* due
    const spans = traces.flatMap((trace) => trace.spans)
    const runs = buildRuns(spans, { logs: traces.flatMap((trace) => trace.logs) })
    const later = [...waiting.slice(due.length), ...runs]
    waiting = later.toSorted((left, right) => left.startTimeMs - right.startTimeMs)
  }
  yield* waiting
}

/** Spans that are looked at together where not all fit into memory. */
const BATCH_SPANS = 5000

/** Traces in batches of some `maxSpans` spans, cut where the pause between two starts is the longest of the later half. */
function* inBatches(traces: Iterable<ArchivedTrace>, maxSpans: number): Generator<readonly ArchivedTrace[]> {
  let batch: ArchivedTrace[] = []
  let count = 0
  for (const trace of traces) {
    batch.push(trace)
    count += trace.spans.length
    if (count < maxSpans || batch.length < 2) continue
    const cut = longestPause(batch)
    yield batch.slice(0, cut)
    batch = batch.slice(cut)
    count = batch.reduce((sum, item) => sum + item.spans.length, 0)
  }
  if (batch.length > 0) yield batch
}

function longestPause(batch: readonly ArchivedTrace[]): number {
  let longest = -1
  let cut = batch.length - 1
  for (let index = Math.ceil(batch.length / 2); index < batch.length; index++) {
    const pause = (batch[index]?.startTimeMs ?? 0) - (batch[index - 1]?.startTimeMs ?? 0)
    if (pause <= longest) continue
    longest = pause
    cut = index
  }
  return cut
}

/** Puts what the inputs hold into the archive, and counts. */
class OtlpReader {
  readonly #archive: SpanArchive
  readonly #options: ReadRunsOptions
  readonly #counts = { spans: 0, recognisedSpans: 0, logRecords: 0, damagedRecords: 0 }
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
      const batch = readOtlpJson(record.value)
      const reason = 'JSON, but no OTLP request: expected resourceSpans or resourceLogs'
      return batch ?? this.#reportDamage(input, record.place, reason)
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
      entries.push({ span: isRecognised ? span : toLink(span), isRecognised })
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

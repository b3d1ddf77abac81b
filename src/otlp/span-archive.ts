import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import { SpilledEntries } from './spilled-entries.ts'
import type { ArchiveEntry } from './spilled-entries.ts'

/** The contents of a file for one trace. */
export interface ArchivedTrace {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
  /** The start of the earliest span. */
  readonly startTimeMs: number
}

/** @internal Options of a `SpanArchive`. */
export interface SpanArchiveOptions {
  /** Maximum bytes of input whose spans are held in memory. All are in a temporary database above it. */
  readonly maxHeldBytes: number
}

/**
 * Stores a file's spans in order of arrival, and returns them trace by trace, earliest first, wherever their spans are in the file. Above
 * `maxHeldBytes` they are in a temporary database.
 */
export class SpanArchive {
  readonly #maxHeldBytes: number
  #held: ArchiveEntry[] = []
  #heldBytes = 0
  #spill: SpilledEntries | undefined

  constructor(options: SpanArchiveOptions) {
    this.#maxHeldBytes = options.maxHeldBytes
  }

  /** Whether the spans are in the temporary database. */
  get isSpilled(): boolean {
    return this.#spill !== undefined
  }

  /** Adds the contents of one record of `byteLength` bytes. */
  add(entries: readonly ArchiveEntry[], byteLength: number): void {
    for (const entry of entries) this.#held.push(entry)
    this.#heldBytes += byteLength
    if (this.#spill === undefined && this.#heldBytes <= this.#maxHeldBytes) return
    this.#spill ??= new SpilledEntries()
    for (const entry of this.#held) this.#spill.add(entry)
    this.#held = []
  }

  /** The traces with a recognised span, by the start of their earliest span. */
  *traces(): Generator<ArchivedTrace> {
    if (this.#spill === undefined) {
      yield* toTraces(this.#held).toSorted((left, right) => left.startTimeMs - right.startTimeMs)
      return
    }
    for (const entries of this.#spill.traces()) yield* toTraces(entries)
  }

  /** Removes the temporary database. */
  close(): void {
    this.#spill?.close()
    this.#held = []
  }
}

function toTraces(entries: readonly ArchiveEntry[]): ArchivedTrace[] {
  const traces = new Map<
    string,
    { spans: SourceSpan[]; logs: SourceLog[]; startTimeMs: number; isRecognised: boolean }
  >()
  for (const entry of entries) {
    const traceId = entry.span?.traceId ?? entry.log?.traceId ?? ''
    let trace = traces.get(traceId)
    if (trace === undefined) {
      trace = { spans: [], logs: [], startTimeMs: Number.POSITIVE_INFINITY, isRecognised: false }
      traces.set(traceId, trace)
    }
    if (entry.span !== undefined) {
      trace.spans.push(entry.span)
      trace.startTimeMs = Math.min(trace.startTimeMs, entry.span.startTimeMs)
    }
    if (entry.log !== undefined) trace.logs.push(entry.log)
    trace.isRecognised ||= entry.isRecognised
  }
  return [...traces.values()].filter((trace) => trace.isRecognised)
}

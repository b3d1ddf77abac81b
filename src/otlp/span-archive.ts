import type { SourceLog, SourceSpan } from '../spans/source-span.ts'
import type { ArchiveEntry } from './archive-entry.ts'
import { ArchiveIndex } from './archive-index.ts'
import { SpillFile } from './spill-file.ts'

/** All that a file holds of one trace. */
export interface ArchivedTrace {
  readonly spans: readonly SourceSpan[]
  readonly logs: readonly SourceLog[]
  /** Of the earliest span. */
  readonly startTimeMs: number
}

/** @internal Settings of a `SpanArchive`. */
export interface SpanArchiveOptions {
  /** Bytes of input whose spans are held in memory; from then on they go to a temporary file. */
  readonly maxHeldBytes: number
}

/**
 * Spans of a file in the order in which they come, given back trace by trace, earliest first, wherever in the file the spans
 * of a trace are. Beyond `maxHeldBytes` they are kept in a temporary file, and in memory only an index of 29 bytes each.
 */
export class SpanArchive {
  readonly #maxHeldBytes: number
  #held: ArchiveEntry[] = []
  #heldBytes = 0
  #spill: SpillFile | undefined
  readonly #index = new ArchiveIndex()

  constructor(options: SpanArchiveOptions) {
    this.#maxHeldBytes = options.maxHeldBytes
  }

  /** True where the spans are in the temporary file. */
  get isSpilled(): boolean {
    return this.#spill !== undefined
  }

  /** Adds what one record of `byteLength` bytes held. */
  add(entries: readonly ArchiveEntry[], byteLength: number): void {
    for (const entry of entries) this.#held.push(entry)
    this.#heldBytes += byteLength
    if (this.#spill === undefined && this.#heldBytes <= this.#maxHeldBytes) return
    this.#spill ??= new SpillFile()
    for (const entry of this.#held) this.#index.add(entry, this.#spill.write(entry))
    this.#held = []
  }

  /** The traces with a recognised span, by the start of their earliest span. */
  *traces(): Generator<ArchivedTrace> {
    if (this.#spill === undefined) {
      yield* toTraces(this.#held).toSorted((left, right) => left.startTimeMs - right.startTimeMs)
      return
    }
    this.#spill.flush()
    const spill = this.#spill
    for (const positions of this.#index.groups()) {
      yield* toTraces(positions.map((position) => spill.read(position)))
    }
  }

  /** Removes the temporary file. */
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

import type { DatabaseSync } from 'node:sqlite'

import { buildRuns, recognise } from 'spanscore/engine'
import type { AgentRun, Evaluation, SourceSpan } from 'spanscore/engine'

import type { RequestReader } from '../receive/read-request.ts'
import type { ToPage } from './messages.ts'
import { decodeAll, readContent, saveContent } from './store/content.ts'
import type { Payload, TraceContent } from './store/content.ts'
import { first } from './store/page-database.ts'
import { searchText, summarise } from './store/run-summary.ts'
import type { RunSummary } from './store/run-summary.ts'
import { saveRun, saveScore } from './store/run-writer.ts'

/** A trace with spans that were not settled yet. */
interface OpenTrace {
  readonly firstMs: number
  payloads: Payload[]
  spans: SourceSpan[]
  logs: TraceContent['logs'][number][]
  bytes: number
  isRecognised: boolean
}

/** A run that is in progress: what is known of it by now. */
export interface OpenRun extends RunSummary {
  readonly spans: number
  readonly firstMs: number
}

/** Bytes of spans in progress that are kept. Above it, the content of the oldest is let go of. */
const MAX_OPEN_BYTES = 256 * 1024 * 1024

/** Runs in progress that the list shows. */
const MAX_OPEN_SHOWN = 20

/** From what the service sees to what the page shows. */
export class Ingest {
  readonly #database: DatabaseSync
  readonly #reader: RequestReader
  readonly #nowMs: () => number
  readonly #open = new Map<string, OpenTrace>()
  #openBytes = 0
  /** Increases with everything that a page would show differently. */
  changes = 0

  constructor(database: DatabaseSync, reader: RequestReader, nowMs: () => number) {
    this.#database = database
    this.#reader = reader
    this.#nowMs = nowMs
  }

  /** Takes in one step of the service. To be called within a transaction. */
  take(item: ToPage): void {
    if (item.kind === 'record') this.#arrived(item.traceId, item)
    else if (item.kind === 'settled') this.#settled(item)
    else if (item.kind === 'score') this.#scored(item)
    else this.#forget(item.traceId)
  }

  /** Traces with recognised spans that were not settled yet. */
  get openCount(): number {
    let count = 0
    for (const { isRecognised } of this.#open.values()) if (isRecognised) count += 1
    return count
  }

  /** The runs in progress, the newest first. */
  openRuns(): readonly OpenRun[] {
    const recognised = [...this.#open].filter(([, { isRecognised }]) => isRecognised)
    return recognised
      .slice(-MAX_OPEN_SHOWN)
      .toReversed()
      .flatMap(([, trace]) =>
        buildRuns(trace.spans, { logs: trace.logs }).map((run) => ({
          ...summarise(run),
          spans: trace.spans.length,
          firstMs: trace.firstMs,
        })),
      )
  }

  /** Spans and log records of a trace: what is stored, and what is in progress. */
  contentOf(traceId: string): TraceContent {
    const stored = readContent(this.#database, this.#reader, traceId)
    const open = this.#open.get(traceId)
    if (open === undefined) return stored
    return merge(stored, open)
  }

  #arrived(traceId: string, payload: Payload): void {
    const nowMs = this.#nowMs()
    const { signal, encoding, payload: bytes } = payload
    const decoded = decodeAll(this.#reader, traceId, [{ signal, encoding, payload: bytes }])
    let trace = this.#open.get(traceId)
    if (trace === undefined) {
      // After a restart the service reads again what is still on its log; a sender that got no answer sends again.
      if (this.#isKnown(traceId, decoded)) return
      trace = { firstMs: nowMs, payloads: [], spans: [], logs: [], bytes: 0, isRecognised: false }
      this.#open.set(traceId, trace)
    }
    trace.payloads.push({ signal, encoding, payload: bytes })
    trace.spans.push(...decoded.spans)
    trace.logs.push(...decoded.logs)
    trace.bytes += bytes.byteLength
    this.#openBytes += bytes.byteLength
    trace.isRecognised ||= decoded.spans.some(isOfAgent)
    if (trace.isRecognised) this.changes += 1
    for (const [oldest] of this.#open) {
      if (this.#openBytes <= MAX_OPEN_BYTES) break
      this.#forget(oldest)
    }
  }

  #isKnown(traceId: string, { spans, logs }: TraceContent): boolean {
    if (first(this.#database, 'SELECT 1 AS found FROM runs WHERE trace_id = ?', traceId) === undefined) return false
    const stored = readContent(this.#database, this.#reader, traceId)
    const known = new Set(stored.spans.map(({ spanId }) => spanId))
    const knownLogs = new Set(stored.logs.map(({ spanId }) => spanId))
    return spans.every(({ spanId }) => known.has(spanId)) && logs.every(({ spanId }) => knownLogs.has(spanId))
  }

  #settled({ traceId, spanIds, lacksSpans, revisions }: ToPage & { readonly kind: 'settled' }): void {
    const open = this.#open.get(traceId)
    if (open !== undefined && Object.keys(revisions).length > 0) {
      const wanted = new Set(spanIds)
      const { spans, logs } = merge(readContent(this.#database, this.#reader, traceId), open)
      saveContent(this.#database, traceId, open.payloads)
      this.#openBytes -= open.bytes
      open.bytes = 0
      open.payloads = []
      const settled = spans.filter(({ spanId }) => wanted.has(spanId))
      for (const run of buildRuns(settled, { logs, lacksSpans })) {
        const revision = revisions[run.id]
        if (revision !== undefined) this.#save(run, revision)
      }
    }
    this.#settle(traceId, new Set(spanIds))
    this.changes += 1
  }

  #save(run: AgentRun, revision: number): void {
    saveRun(this.#database, summarise(run), searchText(run), this.#nowMs(), revision)
    for (const child of run.children) this.#save(child, revision)
  }

  #scored({ runId, scoreKey, evaluation }: ToPage & { readonly kind: 'score' }): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other thread wrote it from an Evaluation
    const parsed = JSON.parse(evaluation) as Evaluation
    if (saveScore(this.#database, runId, scoreKey, parsed, evaluation)) this.changes += 1
  }

  /** Other runs of the trace may go on: their spans stay, and with them the records that hold them. */
  #settle(traceId: string, settled: ReadonlySet<string>): void {
    const trace = this.#open.get(traceId)
    if (trace === undefined) return
    trace.spans = trace.spans.filter(({ spanId }) => !settled.has(spanId))
    trace.logs = trace.logs.filter(({ spanId }) => !settled.has(spanId))
    trace.isRecognised = trace.spans.some(isOfAgent)
    if (trace.spans.length === 0 && trace.logs.length === 0) this.#forget(traceId)
  }

  #forget(traceId: string): void {
    const trace = this.#open.get(traceId)
    if (trace === undefined) return
    this.#open.delete(traceId)
    this.#openBytes -= trace.bytes
    this.changes += 1
  }
}

/** Whether a dialect knows the span. */
function isOfAgent(span: SourceSpan): boolean {
  return recognise(span.scope.name, span.attributes, span.name) !== undefined
}

function merge(stored: TraceContent, open: TraceContent): TraceContent {
  const known = new Set(stored.spans.map(({ spanId }) => spanId))
  const logs = new Set(stored.logs.map(({ spanId }) => spanId))
  return {
    spans: [...stored.spans, ...open.spans.filter(({ spanId }) => !known.has(spanId))],
    logs: [...stored.logs, ...open.logs.filter(({ spanId }) => !logs.has(spanId))],
  }
}

import type { DatabaseSync } from 'node:sqlite'

import { buildRuns, recognise } from 'spanscore/engine'
import type { AgentRun, Evaluation, SourceLog, SourceSpan } from 'spanscore/engine'

import type { RequestReader } from '../receive/read-request.ts'
import type { ToPage } from './messages.ts'
import { boundedSpan } from './store/bounded-span.ts'
import { readContent, saveContent } from './store/content.ts'
import type { TraceContent } from './store/content.ts'
import { first } from './store/page-database.ts'
import { searchText, summarise } from './store/run-summary.ts'
import type { RunSummary } from './store/run-summary.ts'
import { saveRun, saveScore } from './store/run-writer.ts'

/** A trace with spans that are not stored yet. */
interface OpenTrace {
  readonly firstMs: number
  readonly spans: Map<string, SourceSpan>
  logs: SourceLog[]
  /** Its share of its requests' bytes. */
  bytes: number
  isRecognised: boolean
}

/** A run in progress, as far as it is known. */
export interface OpenRun extends RunSummary {
  readonly spans: number
  readonly firstMs: number
}

/** Maximum bytes of spans in progress. Above it, the oldest trace is dropped. */
const MAX_OPEN_BYTES = 256 * 1024 * 1024

/** Maximum number of runs in progress in the list. */
const MAX_OPEN_SHOWN = 20

/** Converts the service's events into what the page shows. */
export class Ingest {
  readonly #database: DatabaseSync
  readonly #reader: RequestReader
  readonly #nowMs: () => number
  readonly #open = new Map<string, OpenTrace>()
  #openBytes = 0
  #changes = 0

  constructor(database: DatabaseSync, reader: RequestReader, nowMs: () => number) {
    this.#database = database
    this.#reader = reader
    this.#nowMs = nowMs
  }

  /** Increases with every visible change. */
  get changes(): number {
    return this.#changes
  }

  /** Must be called after every visible change. */
  changed(): void {
    this.#changes += 1
  }

  /** Processes one event of the service. Must be called within a transaction. */
  take(item: ToPage): void {
    if (item.kind === 'record') this.#arrived(item)
    else if (item.kind === 'settled') this.#settled(item)
    else if (item.kind === 'score') this.#scored(item)
    else this.#drop(item.traceId, new Set(item.spanIds))
  }

  /** Unsettled traces with recognised spans. */
  get openCount(): number {
    let count = 0
    for (const { isRecognised } of this.#open.values()) if (isRecognised) count += 1
    return count
  }

  /** The runs in progress, newest first. */
  openRuns(): readonly OpenRun[] {
    return [...this.#open.values()]
      .filter(({ isRecognised }) => isRecognised)
      .slice(-MAX_OPEN_SHOWN)
      .toReversed()
      .flatMap(({ spans, logs, firstMs }) =>
        buildRuns([...spans.values()], { logs }).map((run) => ({ ...summarise(run), spans: spans.size, firstMs })),
      )
  }

  /** A trace's spans and log records, stored or in progress. */
  contentOf(traceId: string): TraceContent {
    const { spans, logs } = readContent(this.#database, traceId)
    const open = this.#open.get(traceId)
    if (open === undefined) return { spans, logs }
    const stored = spans.filter(({ spanId }) => !open.spans.has(spanId))
    return { spans: [...stored, ...open.spans.values()], logs: [...logs, ...open.logs] }
  }

  #arrived(record: ToPage & { readonly kind: 'record' }): void {
    const decoded = this.#reader.sources(record)
    const spans = decoded.spans.filter((span) => span !== undefined)
    const logs = decoded.logs.filter((log) => log !== undefined)
    const logsOf = Map.groupBy(logs, ({ traceId }) => traceId)
    const spansOf = Map.groupBy(spans, ({ traceId }) => traceId)
    const bytes = record.body.byteLength / Math.max(1, spans.length + logs.length)
    for (const traceId of new Set([...spansOf.keys(), ...logsOf.keys()])) {
      this.#add(traceId, spansOf.get(traceId) ?? [], logsOf.get(traceId) ?? [], bytes)
    }
    for (const [oldest] of this.#open) {
      if (this.#openBytes <= MAX_OPEN_BYTES) break
      this.#forget(oldest)
    }
  }

  #add(traceId: string, spans: readonly SourceSpan[], logs: readonly SourceLog[], bytesEach: number): void {
    let trace = this.#open.get(traceId)
    // After a restart the service reads its log again, and a sender without an answer repeats its request.
    if (trace === undefined && this.#isStored(traceId, { spans, logs })) return
    if (trace === undefined) {
      trace = { firstMs: this.#nowMs(), spans: new Map(), logs: [], bytes: 0, isRecognised: false }
      this.#open.set(traceId, trace)
    }
    for (const span of spans) {
      if (!trace.spans.has(span.spanId)) trace.spans.set(span.spanId, isOfAgent(span) ? span : boundedSpan(span))
    }
    trace.logs.push(...logs)
    const bytes = bytesEach * (spans.length + logs.length)
    trace.bytes += bytes
    this.#openBytes += bytes
    trace.isRecognised ||= spans.some(isOfAgent)
    if (trace.isRecognised) this.changed()
  }

  #isStored(traceId: string, { spans, logs }: TraceContent): boolean {
    if (first(this.#database, 'SELECT 1 AS found FROM runs WHERE trace_id = ?', traceId) === undefined) return false
    const stored = readContent(this.#database, traceId)
    const spanIds = new Set(stored.spans.map(({ spanId }) => spanId))
    const logIds = new Set(stored.logs.map(({ spanId }) => spanId))
    return spans.every(({ spanId }) => spanIds.has(spanId)) && logs.every(({ spanId }) => logIds.has(spanId))
  }

  #settled({ traceId, spanIds, lacksSpans, revisions }: ToPage & { readonly kind: 'settled' }): void {
    const open = this.#open.get(traceId)
    const wanted = new Set(spanIds)
    if (open !== undefined && Object.keys(revisions).length > 0) {
      const { spans, logs } = this.contentOf(traceId)
      const settled = spans.filter(({ spanId }) => wanted.has(spanId))
      for (const run of buildRuns(settled, { logs, lacksSpans })) {
        const revision = revisions[run.id]
        if (revision !== undefined) this.#save(run, revision)
      }
      saveContent(this.#database, traceId, {
        spans: [...open.spans.values()].filter(({ spanId }) => wanted.has(spanId)),
        logs: open.logs.filter(({ spanId }) => wanted.has(spanId)),
      })
    }
    this.#drop(traceId, wanted)
    this.changed()
  }

  #save(run: AgentRun, revision: number): void {
    saveRun(this.#database, summarise(run), searchText(run), this.#nowMs(), revision)
    for (const child of run.children) this.#save(child, revision)
  }

  #scored({ runId, scoreKey, evaluation }: ToPage & { readonly kind: 'score' }): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other thread wrote it from an Evaluation
    const parsed = JSON.parse(evaluation) as Evaluation
    const [traceId = ''] = runId.split(':')
    const shown = isAlreadyScored(parsed) ? withScoreOnSpan(parsed, this.contentOf(traceId).spans) : parsed
    const asJson = shown === parsed ? evaluation : JSON.stringify(shown)
    if (saveScore(this.#database, runId, scoreKey, shown, asJson)) this.changed()
  }

  /** The spans stay, because other runs of the trace may continue. */
  #drop(traceId: string, settled: ReadonlySet<string>): void {
    const trace = this.#open.get(traceId)
    if (trace === undefined) return
    for (const spanId of settled) trace.spans.delete(spanId)
    trace.logs = trace.logs.filter(({ spanId }) => !settled.has(spanId))
    trace.isRecognised = [...trace.spans.values()].some(isOfAgent)
    if (trace.spans.size === 0 && trace.logs.length === 0) this.#forget(traceId)
  }

  #forget(traceId: string): void {
    const trace = this.#open.get(traceId)
    if (trace === undefined) return
    this.#open.delete(traceId)
    this.#openBytes -= trace.bytes
    this.changed()
  }
}

/** Whether a dialect recognises the span. */
function isOfAgent(span: SourceSpan): boolean {
  return recognise(span.scope.name, span.attributes, span.name) !== undefined
}

/**
 * The score that the application has written on the agent's own span, where the service did not score the run for that reason. It has
 * no weight in means, because its probability is not on the span.
 *
 * @param spans the spans of the trace
 * @returns the evaluation as it is, if it is another one, or the span does not hold a whole score
 */
function withScoreOnSpan(evaluation: Evaluation, spans: readonly SourceSpan[]): Evaluation {
  const { scorer, runId } = evaluation
  const span = spans.find(({ traceId, spanId }) => `${traceId}:${spanId}` === runId)
  const value = span?.attributes[`spanscore.${scorer.id}.score`]
  const label = span?.attributes[`spanscore.${scorer.id}.label`]
  const explanation = span?.attributes[`spanscore.${scorer.id}.explanation`]
  const [low, high] = scorer.range
  if (typeof value !== 'number' || !(value >= low && value <= high)) return evaluation
  if (label !== 'pass' && label !== 'fail') return evaluation
  const { probability: _, upstreamProbability: __, ...kept } = evaluation
  return { ...kept, score: { status: 'scored', value, label, ...(typeof explanation === 'string' && { explanation }) } }
}

/** Whether the service did not score a run because its span already has the score. */
function isAlreadyScored({ score }: Evaluation): boolean {
  return score.status === 'skipped' && score.reason === 'already-scored'
}

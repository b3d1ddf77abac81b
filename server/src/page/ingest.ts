import type { DatabaseSync } from 'node:sqlite'

import {
  buildRuns,
  MAX_NAME_LENGTH,
  recognise,
  shortened,
  TextRedactor,
  toStoredRuns,
  traitsOf,
  withoutPause,
} from 'spanscore/engine'
import type { AgentRun, Evaluation, SourceLog, SourceSpan, StoredScore, WorkSteps } from 'spanscore/engine'

import { EXAMPLE_TRACE } from './example-trace.ts'
import type { RequestReader } from '../receive/read-request.ts'
import type { ToPage } from './messages.ts'
import { boundedSpan } from './store/bounded-span.ts'
import { logPartOf, NO_CONTENT, readContent, readContentOf, saveContent, storedParts } from './store/content.ts'
import type { RunContent } from './store/content.ts'
import { searchText, summarise } from './store/run-summary.ts'
import type { RunSummary } from './store/run-summary.ts'
import { saveConversationScore, saveTurn } from './store/conversations.ts'
import { forgetTraces } from './store/forget-person.ts'
import { saveSaid } from './store/remarks.ts'
import { saveRun, saveScore } from './store/run-writer.ts'
import { TraitStore } from './store/traits.ts'
import { toEvaluation } from './stored-evaluation.ts'

/** A span or log record that is not stored yet, with its bytes in its decoded request. */
interface Open<Source extends SourceSpan | SourceLog> {
  readonly source: Source
  readonly bytes: number
}

/** A trace with spans that are not stored yet. */
interface OpenTrace {
  readonly firstMs: number
  readonly spans: Map<string, Open<SourceSpan>>
  /** Spans that are finished, and may be around runs that are not, by their id. */
  readonly around: Map<string, SourceSpan>
  /** By the id of their span. */
  readonly logs: Map<string, Open<SourceLog>[]>
  /** How many of the spans a dialect recognises. */
  recognised: number
}

/** A run in progress, as far as it is known. */
export interface OpenRun extends RunSummary {
  readonly spans: number
  readonly firstMs: number
}

/** The runs that the API shows. */
export interface ShownRuns {
  /** Another number after every visible change, and after a restart. */
  readonly changes: number
  /** Unsettled traces with recognised spans. */
  readonly openCount: number
  /** The runs in progress, newest first. */
  openRuns(): readonly OpenRun[]
  /** The spans and log records of a run and of what was settled with it; of a run in progress, those of its trace in progress. */
  contentOf(runId: string): RunContent
}

/** How much the page holds in memory. */
export interface IngestLimits {
  /** Maximum decoded bytes of spans in progress: more than those of the largest trace. Above it, the oldest trace is dropped. */
  readonly maxOpenBytes: number
  /** Maximum bytes that are read when somebody looks at a run. Scorers read no larger runs either. */
  readonly maxReadBytes: number
}

/** With the largest heap of its thread. */
const LIMITS: IngestLimits = { maxOpenBytes: 96 * 1024 * 1024, maxReadBytes: 16 * 1024 * 1024 }

/** The limits for a heap: a quarter of it for spans in progress. */
export function ingestLimits(heapMiB: number): IngestLimits {
  const maxOpenBytes = Math.min(LIMITS.maxOpenBytes, (heapMiB / 4) * 1024 * 1024)
  return { maxOpenBytes, maxReadBytes: Math.min(LIMITS.maxReadBytes, maxOpenBytes / 4) }
}

/** Estimated bytes of an object in memory, besides its data. */
const OBJECT_BYTES = 400

/** Maximum number of runs in progress in the list. */
const MAX_OPEN_SHOWN = 20

/** Maximum number of spans around the runs of a trace. */
const MAX_AROUND = 16

/** Maximum number of scores of a run that its application made. */
const MAX_SCORES_ON_SPANS = 32

/** What is stored with each run of a trace that was settled. */
interface SettledRun {
  readonly revision: number
  readonly contentIds: readonly number[]
  readonly scoresOf: (run: AgentRun) => readonly StoredScore[]
}

/** Converts the service's events into what the page shows. */
export class Ingest implements ShownRuns {
  readonly #database: DatabaseSync
  readonly #reader: RequestReader
  readonly #nowMs: () => number
  readonly #limits: IngestLimits
  readonly #traits: TraitStore
  readonly #open = new Map<string, OpenTrace>()
  #redactor: TextRedactor | undefined
  #openBytes = 0
  #changes: number
  #dropped = 0
  /** Whether the recorded run may be stored, which the first other one replaces. */
  #mayHaveExample = true

  constructor(database: DatabaseSync, reader: RequestReader, nowMs: () => number, limits: IngestLimits = LIMITS) {
    this.#limits = limits
    this.#database = database
    this.#traits = new TraitStore(database)
    this.#reader = reader
    this.#nowMs = nowMs
    this.#changes = nowMs()
  }

  /** Another number after every visible change, and after a restart. */
  get changes(): number {
    return this.#changes
  }

  /** Traces in progress that were dropped, because too much was in progress. */
  get dropped(): number {
    return this.#dropped
  }

  /** Redacts what arrives from now on. */
  redactBy(patterns: readonly string[] | undefined): void {
    this.#redactor = patterns && new TextRedactor(patterns)
  }

  /** Must be called after every visible change. */
  changed(): void {
    this.#changes += 1
  }

  /** Processes one event of the service. Must be called within a transaction. */
  take(item: ToPage): void {
    withoutPause(this.takeInSteps(item))
  }

  /** Does the same in steps. Each must be done within a transaction, and all of them before the next event. */
  *takeInSteps(item: ToPage): WorkSteps {
    if (item.kind === 'record') yield* this.#arrived(item)
    else if (item.kind === 'settled') this.#settled(item)
    else if (item.kind === 'score') this.#scored(item)
    else if (item.kind === 'conversation-score') this.#scoredConversation(item)
    else if (item.kind === 'said') yield* this.#said(item.log)
    else this.#finished(item.traceId, new Set(item.spanIds))
  }

  /** Drops what is in progress of traces. */
  forget(traceIds: readonly string[]): void {
    for (const traceId of traceIds) this.#forget(traceId)
    this.changed()
  }

  /** Unsettled traces with recognised spans. */
  get openCount(): number {
    let count = 0
    for (const { recognised } of this.#open.values()) if (recognised > 0) count += 1
    return count
  }

  /** The runs in progress, newest first. */
  openRuns(): readonly OpenRun[] {
    return [...this.#open.values()]
      .filter(({ recognised }) => recognised > 0)
      .slice(-MAX_OPEN_SHOWN)
      .toReversed()
      .flatMap((trace) => {
        const { spans, logs, isCut } = contentIn(trace, this.#limits.maxReadBytes)
        const runs = buildRuns(spans, { logs, lacksSpans: isCut })
        return runs.map((run) => ({ ...summarise(run), spans: trace.spans.size, firstMs: trace.firstMs }))
      })
      .slice(0, MAX_OPEN_SHOWN)
  }

  /** The spans and log records of a run and of what was settled with it; of a run in progress, those of its trace in progress. */
  contentOf(runId: string): RunContent {
    const { maxReadBytes } = this.#limits
    const stored = readContentOf(this.#database, runId, maxReadBytes)
    if (stored !== undefined) return stored
    const open = this.#open.get(runId.split(':')[0] ?? '')
    return open === undefined ? NO_CONTENT : contentIn(open, maxReadBytes)
  }

  *#arrived(record: ToPage & { readonly kind: 'record' }): WorkSteps {
    const { spans, logs, bytesOf } = this.#reader.sources(record)
    const spansOf = Map.groupBy(yield* this.#opened(spans, bytesOf), ({ source }) => source.traceId)
    const openLogs = yield* this.#opened(logs, (index) => bytesOf(spans.length + index))
    const logsOf = Map.groupBy(openLogs, ({ source }) => source.traceId)
    for (const traceId of new Set([...spansOf.keys(), ...logsOf.keys()])) {
      this.#add(traceId, spansOf.get(traceId) ?? [], logsOf.get(traceId) ?? [])
    }
    for (const [oldest] of this.#open) {
      if (this.#openBytes <= this.#limits.maxOpenBytes) break
      this.#dropped += 1
      this.#forget(oldest)
    }
  }

  *#opened<Source extends SourceSpan | SourceLog>(
    sources: readonly (Source | undefined)[],
    bytesOf: (index: number) => number,
  ): WorkSteps<Open<Source>[]> {
    const opened: Open<Source>[] = []
    for (const [index, source] of sources.entries()) {
      if (source === undefined) continue
      opened.push({ source: yield* this.#redacted(source), bytes: bytesOf(index) + OBJECT_BYTES })
    }
    return opened
  }

  #add(traceId: string, spans: readonly Open<SourceSpan>[], logs: readonly Open<SourceLog>[]): void {
    // After a restart the service reads its log again, and a sender without an answer repeats its request.
    const spanIds = new Set([...spans, ...logs].map(({ source }) => source.spanId))
    const stored = storedParts(this.#database, traceId, [...spanIds])
    const newSpans = spans.filter(({ source }) => !stored.has(source.spanId))
    const newLogs = logs.filter(({ source }) => !stored.has(logPartOf(source.spanId)))
    if (newSpans.length + newLogs.length === 0) return
    let trace = this.#open.get(traceId)
    if (trace === undefined) {
      trace = { firstMs: this.#nowMs(), spans: new Map(), around: new Map(), logs: new Map(), recognised: 0 }
      this.#open.set(traceId, trace)
    }
    for (const { source, bytes } of newSpans) {
      if (trace.spans.has(source.spanId)) continue
      const isRecognised = isOfAgent(source)
      if (isRecognised) trace.recognised += 1
      trace.spans.set(source.spanId, { source: isRecognised ? source : boundedSpan(source), bytes })
      this.#openBytes += bytes
    }
    for (const log of newLogs) {
      const { spanId } = log.source
      const ofSpan = trace.logs.get(spanId)
      if (ofSpan === undefined) trace.logs.set(spanId, [log])
      else ofSpan.push(log)
      this.#openBytes += log.bytes
    }
    if (trace.recognised > 0) this.changed()
  }

  #settled({ traceId, spanIds, lacksSpans, revisions }: ToPage & { readonly kind: 'settled' }): void {
    if (traceId === EXAMPLE_TRACE) this.#mayHaveExample = true
    else if (this.#mayHaveExample && Object.keys(revisions).length > 0) {
      forgetTraces(this.#database, [EXAMPLE_TRACE])
      this.#mayHaveExample = false
    }
    const open = this.#open.get(traceId)
    const wanted = new Set(spanIds)
    if (open !== undefined && Object.keys(revisions).length > 0) {
      const isWanted = ({ spanId }: SourceSpan | SourceLog): boolean => wanted.has(spanId)
      const added = {
        spans: [...spansAround(open, wanted), ...spanIds.flatMap((id) => open.spans.get(id)?.source ?? [])],
        logs: spanIds.flatMap((id) => open.logs.get(id)?.map(({ source }) => source) ?? []),
      }
      const storedIds = [...new Set(storedParts(this.#database, traceId, spanIds).values())]
      const stored = readContent(this.#database, storedIds, this.#limits.maxReadBytes)
      const spans = [...stored.spans.filter((span) => isWanted(span) || !isOfAgent(span)), ...added.spans]
      const logs = [...stored.logs.filter(isWanted), ...added.logs]
      const addedIds = saveContent(this.#database, traceId, added, this.#nowMs())
      const contentIds = [...storedIds, ...addedIds]
      for (const { run, scoresOf } of toStoredRuns(spans, logs, { lacksSpans: lacksSpans || stored.isCut })) {
        const revision = revisions[run.id]
        if (revision !== undefined) this.#save(run, { revision, contentIds, scoresOf })
      }
    }
    this.#drop(traceId, wanted)
    this.changed()
  }

  #save(run: AgentRun, settled: SettledRun): void {
    const { revision, contentIds, scoresOf } = settled
    const row = { text: searchText(run), contentIds, settledMs: this.#nowMs(), revision }
    const seq = saveRun(this.#database, summarise(run), row)
    if (seq !== undefined) {
      const turn = saveTurn(this.#database, seq, run, row.settledMs)
      this.#traits.save(seq, traitsOf(run, { turn }))
      this.#saveScoresOnSpans(run, revision, scoresOf(run))
    }
    for (const child of run.children) this.#save(child, settled)
  }

  /** The scores that the application made. What users and other tools say is read from the content. */
  #saveScoresOnSpans(run: AgentRun, revision: number, scores: readonly StoredScore[]): void {
    const own = scores.filter(({ isForeign, label }) => isForeign !== true && (label === 'pass' || label === 'fail'))
    for (const score of own.slice(0, MAX_SCORES_ON_SPANS)) {
      const evaluation = toEvaluation(run, { ...score, scorerId: shortened(score.scorerId, MAX_NAME_LENGTH) })
      if (evaluation === undefined) continue
      const shown = { ...evaluation, revision, source: 'span' as const }
      saveScore(this.#database, run.id, '', shown, JSON.stringify(shown))
    }
  }

  #scored({ runId, scoreKey, evaluation }: ToPage & { readonly kind: 'score' }): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other thread wrote it from an Evaluation
    const parsed = JSON.parse(evaluation) as Evaluation
    if (saveScore(this.#database, runId, scoreKey, parsed, evaluation)) this.changed()
  }

  #scoredConversation({ key, turns, evaluation }: ToPage & { readonly kind: 'conversation-score' }): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the other thread wrote it from an Evaluation
    const parsed = JSON.parse(evaluation) as Evaluation
    if (saveConversationScore(this.#database, key, { evaluation: parsed, turns })) this.changed()
  }

  *#said(log: SourceLog): WorkSteps {
    saveSaid(this.#database, yield* this.#redacted(log), this.#nowMs())
    this.changed()
  }

  *#redacted<Source extends SourceSpan | SourceLog>(source: Source): WorkSteps<Source> {
    const redactor = this.#redactor
    if (redactor === undefined) return source
    const attributes = yield* redactor.inSteps(source.attributes)
    if (!('events' in source)) return { ...source, attributes, body: yield* redactor.inSteps(source.body) }
    const { events, status } = source
    return {
      ...source,
      attributes,
      events: yield* redactor.inSteps(events),
      status: { ...status, message: yield* redactor.inSteps(status.message) },
    }
  }

  /** Spans around a run may be finished before it settles. */
  #finished(traceId: string, spanIds: ReadonlySet<string>): void {
    const trace = this.#open.get(traceId)
    for (const spanId of spanIds) {
      const source = trace?.spans.get(spanId)?.source
      if (trace === undefined || source === undefined || isOfAgent(source)) continue
      if (trace.around.size < MAX_AROUND) trace.around.set(spanId, source)
    }
    this.#drop(traceId, spanIds)
  }

  /** The rest stays, because other runs of the trace may continue. */
  #drop(traceId: string, settled: ReadonlySet<string>): void {
    const trace = this.#open.get(traceId)
    if (trace === undefined) return
    for (const spanId of settled) {
      const span = trace.spans.get(spanId)
      if (span !== undefined && isOfAgent(span.source)) trace.recognised -= 1
      this.#openBytes -= (span?.bytes ?? 0) + bytesIn(trace.logs.get(spanId) ?? [])
      trace.spans.delete(spanId)
      trace.logs.delete(spanId)
    }
    if (trace.spans.size === 0 && trace.logs.size === 0) this.#forget(traceId)
  }

  #forget(traceId: string): void {
    const trace = this.#open.get(traceId)
    if (trace === undefined) return
    this.#open.delete(traceId)
    this.#openBytes -= bytesIn(trace.spans.values()) + bytesIn([...trace.logs.values()].flat())
    this.changed()
  }
}

/** The spans around those that settled, such as the request's, as far as they are known: they may say whose conversation it is. */
function spansAround({ spans, around }: OpenTrace, settled: ReadonlySet<string>): readonly SourceSpan[] {
  const found = new Map<string, SourceSpan>()
  for (const id of settled) {
    for (let depth = 0, above = parentOf(id); above !== undefined && depth < MAX_AROUND; depth += 1) {
      if (settled.has(above.spanId) || found.has(above.spanId)) break
      if (!isOfAgent(above)) found.set(above.spanId, above)
      above = parentOf(above.spanId)
    }
  }
  return [...found.values()]

  function parentOf(id: string): SourceSpan | undefined {
    const parentId = sourceOf(id)?.parentSpanId
    return parentId === undefined ? undefined : sourceOf(parentId)
  }

  function sourceOf(id: string): SourceSpan | undefined {
    return spans.get(id)?.source ?? around.get(id)
  }
}

/** The latest content of a trace in progress. */
function contentIn(trace: OpenTrace, maxBytes: number): RunContent {
  const logs = [...trace.logs.values()].flat()
  let bytes = bytesIn(logs)
  const shown = [...trace.spans.values()]
    .toReversed()
    .filter((span) => (bytes += span.bytes) <= maxBytes)
    .toReversed()
  const isCut = shown.length < trace.spans.size
  return { spans: shown.map(({ source }) => source), logs: logs.map(({ source }) => source), isCut }
}

function bytesIn(opens: Iterable<Open<SourceSpan | SourceLog>>): number {
  let sum = 0
  for (const { bytes } of opens) sum += bytes
  return sum
}

/** Whether a dialect recognises the span. */
function isOfAgent(span: SourceSpan): boolean {
  return recognise(span.scope.name, span.attributes, span.name) !== undefined
}

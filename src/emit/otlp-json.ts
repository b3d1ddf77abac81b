import { TraceFlags } from '@opentelemetry/api'

import type { Evaluation } from '../model/score.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { emittedScores } from './emitted-scores.ts'
import { prepareScore } from './emitter.ts'
import type { PreparedScore, ScoreSource } from './emitter.ts'
import { EVENT_NAME, severityOf } from '../attributes/event-attributes.ts'
import type { ExplanationPolicy } from '../attributes/explanation-rules.ts'
import type { SpanSet } from './score-ids.ts'
import { NO_ATTRIBUTES } from './metric-sums.ts'

/** What log records of scores say about the run to which they belong. */
export interface ScoredRunPlace {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** Of the agent's span: 16 lower-case hex digits. */
  readonly spanId: string
  /** Milliseconds since the epoch. */
  readonly endTimeMs: number
  /** Attributes of the process that ran the agent. */
  readonly resource: Readonly<Record<string, unknown>>
  /** The run itself, if it was reconstructed. The records then name its agent, conversation and response. */
  readonly run?: AgentRun | undefined
  /** The number and the digest of the run's spans, if the scores are to have the ids that the service gives them. */
  readonly spans?: SpanSet
}

/** Options for writing scores. */
export interface OtlpScoreOptions {
  /** Whose explanations are written. */
  readonly explanations: ExplanationPolicy
  /** When the verdicts were reached: milliseconds since the epoch. */
  readonly nowMs: number
}

/** `SPAN_KIND_INTERNAL`. */
const INTERNAL = 1
/** The trace is sampled; it is known that the parent is remote. */
const SAMPLED_WITH_REMOTE_PARENT = 0x301

/** A place whose scores have ids. */
export type IdentifiedPlace = ScoredRunPlace & { readonly spans: SpanSet }

/**
 * The scores of a run as an OTLP/JSON request of `gen_ai.evaluation.result` log records, as an application would send them.
 * Skipped scores are left out. If no score is left, the result is `undefined`.
 */
export function scoresAsOtlp(
  place: ScoredRunPlace,
  evaluations: readonly Evaluation[],
  options: OtlpScoreOptions,
): { readonly resourceLogs: readonly unknown[] } | undefined {
  const logRecords = prepared(place, evaluations, options).map((score) => toLogRecord(score, place))
  if (logRecords.length === 0) return undefined
  const resource = { attributes: toOtlpAttributes(place.resource) }
  return { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'spanscore' }, logRecords }] }] }
}

/**
 * The scores of a run as an OTLP/JSON request of late spans, with the ids that the service gives them. Skipped scores are left out. If no
 * score is left, the result is `undefined`.
 */
export function lateSpansAsOtlp(
  place: IdentifiedPlace,
  evaluations: readonly Evaluation[],
  options: OtlpScoreOptions,
): { readonly resourceSpans: readonly unknown[] } | undefined {
  const spans = prepared(place, evaluations, options).map((score) => toLateSpan(score, place))
  if (spans.length === 0) return undefined
  const resource = { attributes: toOtlpAttributes(place.resource) }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'spanscore' }, spans }] }] }
}

function prepared(
  place: ScoredRunPlace,
  evaluations: readonly Evaluation[],
  { explanations, nowMs }: OtlpScoreOptions,
): readonly PreparedScore[] {
  const { traceId, spanId, run, spans } = place
  const source: ScoreSource = {
    run,
    target: { traceId, spanId, traceFlags: TraceFlags.SAMPLED },
    // JSON has the end of the run to the microsecond.
    endTime: [0, 0],
    extra: NO_ATTRIBUTES,
    ...(spans !== undefined && { spans }),
    rules: { explanations, stripContent: false },
    verdictTimeMs: nowMs,
  }
  return evaluations
    .filter(({ score }) => score.status !== 'skipped')
    .map((each) => (spans === undefined ? each : { ...each, revision: spans.count }))
    .flatMap((each) => emittedScores(each))
    .map((score) => prepareScore(score, source, { isEvent: true, isLateSpan: spans !== undefined }))
}

function toLogRecord({ evaluation, target, attributes, verdictTimeMs }: PreparedScore, place: ScoredRunPlace): unknown {
  return {
    timeUnixNano: toNanoseconds(place.endTimeMs),
    observedTimeUnixNano: toNanoseconds(verdictTimeMs),
    ...severityOf(evaluation),
    eventName: EVENT_NAME,
    traceId: target.traceId,
    // A conversation has no span.
    ...(place.run?.conversation === undefined && { spanId: target.spanId }),
    attributes: toOtlpAttributes(attributes),
  }
}

function toLateSpan(
  { evaluation, target, lateSpanId, attributes, ofLateSpan }: PreparedScore,
  { endTimeMs }: ScoredRunPlace,
): unknown {
  const time = toNanoseconds(endTimeMs)
  return {
    traceId: target.traceId,
    spanId: lateSpanId,
    parentSpanId: target.spanId,
    name: `evaluate ${evaluation.scorer.id}`,
    kind: INTERNAL,
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes: toOtlpAttributes({ ...ofLateSpan, ...attributes }),
    flags: SAMPLED_WITH_REMOTE_PARENT,
  }
}

/** Nanoseconds as decimal text, exact to a microsecond: a JavaScript number cannot hold the time since the epoch more exactly. */
export function toNanoseconds(milliseconds: number): string {
  return Number.isFinite(milliseconds) ? `${BigInt(Math.round(milliseconds * 1000)) * 1000n}` : '0'
}

/** Converts attributes to a list of OTLP/JSON. Values that OTLP cannot express are left out. */
export function toOtlpAttributes(attributes: object): readonly unknown[] {
  return Object.entries(attributes).flatMap(([key, value]: [string, unknown]) => {
    const anyValue = toAnyValue(value)
    return anyValue === undefined ? [] : [{ key, value: anyValue }]
  })
}

/**
 * Converts a value to OTLP/JSON's `AnyValue`; `undefined` if OTLP cannot express it. All numbers become doubles, integers too, because
 * backends fix the type of a column by its first value.
 */
export function toAnyValue(value: unknown): unknown {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return { doubleValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map((item) => toAnyValue(item) ?? {}) } }
  if (typeof value === 'object' && value !== null) return { kvlistValue: { values: toOtlpAttributes(value) } }
  return undefined
}

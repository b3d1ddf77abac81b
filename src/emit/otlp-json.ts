import type { Evaluation } from '../model/score.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { emittedScores, placeOfCall } from './emitted-scores.ts'
import type { EmittedScore } from './emitted-scores.ts'
import { EVENT_NAME, eventAttributes, severityOf } from '../attributes/event-attributes.ts'
import type { ExplanationPolicy, ExplanationRules } from '../attributes/explanation-rules.ts'
import { lateSpanAttributes } from '../attributes/late-span-attributes.ts'
import { idsOfScore } from './score-ids.ts'
import type { SpanSet } from './score-ids.ts'

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
  const logRecords = writtenOf(evaluations).map((score) => toLogRecord(score, place, options))
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
  const spans = writtenOf(evaluations).map((score) => toLateSpan(score, place, options))
  if (spans.length === 0) return undefined
  const resource = { attributes: toOtlpAttributes(place.resource) }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'spanscore' }, spans }] }] }
}

function writtenOf(evaluations: readonly Evaluation[]): readonly EmittedScore[] {
  return evaluations.filter(({ score }) => score.status !== 'skipped').flatMap((each) => emittedScores(each))
}

function toLogRecord(written: EmittedScore, place: ScoredRunPlace, options: OtlpScoreOptions): unknown {
  const { endTimeMs } = place
  const { evaluation, call } = written
  const { traceId, spanId } = placeOfCall(place, call)
  return {
    timeUnixNano: toNanoseconds(endTimeMs),
    observedTimeUnixNano: toNanoseconds(options.nowMs),
    ...severityOf(evaluation),
    eventName: EVENT_NAME,
    traceId,
    // A conversation has no span.
    ...(place.run?.conversation === undefined && { spanId }),
    attributes: toOtlpAttributes(attributesOf(written, place, options)),
  }
}

function toLateSpan(written: EmittedScore, place: IdentifiedPlace, options: OtlpScoreOptions): unknown {
  const { endTimeMs, spans } = place
  const { evaluation, call } = written
  const { traceId, spanId } = placeOfCall(place, call)
  const time = toNanoseconds(endTimeMs)
  return {
    traceId,
    spanId: idsOfScore(place, evaluation.scorer, spans, { run: place.run, call: call?.index }).spanId,
    parentSpanId: spanId,
    name: `evaluate ${evaluation.scorer.id}`,
    kind: INTERNAL,
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    attributes: toOtlpAttributes({
      ...lateSpanAttributes(evaluation, rulesOf(options)),
      ...attributesOf(written, place, options),
    }),
    flags: SAMPLED_WITH_REMOTE_PARENT,
  }
}

function attributesOf(
  { evaluation, call }: EmittedScore,
  place: ScoredRunPlace,
  options: OtlpScoreOptions,
): ReturnType<typeof eventAttributes> {
  const { run, spans } = place
  const details = { rules: rulesOf(options), verdictTimeMs: options.nowMs, extra: {}, call }
  if (spans === undefined) return eventAttributes(evaluation, run, details)
  const ids = idsOfScore(place, evaluation.scorer, spans, { run, call: call?.index })
  return eventAttributes({ ...evaluation, revision: spans.count }, run, { ...details, ids })
}

function rulesOf({ explanations }: OtlpScoreOptions): ExplanationRules {
  return { explanations, stripContent: false }
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

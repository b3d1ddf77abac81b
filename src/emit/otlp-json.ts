import type { Evaluation } from '../model/score.ts'
import type { AgentRun } from '../model/agent-run.ts'
import { eventAttributes } from './event-and-late-span-attributes.ts'
import type { ExplanationPolicy } from './score-attributes.ts'

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
}

/** Options for writing scores. */
export interface OtlpScoreOptions {
  /** Whose explanations are written. */
  readonly explanations: ExplanationPolicy
  /** When the verdicts were reached: milliseconds since the epoch. */
  readonly nowMs: number
}

const INFO = 9
const WARN = 13

/**
 * The scores of a run as an OTLP/JSON request of `gen_ai.evaluation.result` log records, as an application would send them.
 * Skipped scores are left out. If no score is left, the result is `undefined`.
 */
export function scoresAsOtlp(
  place: ScoredRunPlace,
  evaluations: readonly Evaluation[],
  options: OtlpScoreOptions,
): { readonly resourceLogs: readonly unknown[] } | undefined {
  const logRecords = evaluations
    .filter(({ score }) => score.status !== 'skipped')
    .map((evaluation) => toLogRecord(evaluation, place, options))
  if (logRecords.length === 0) return undefined
  const resource = { attributes: toOtlpAttributes(place.resource) }
  return { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'spanscore' }, logRecords }] }] }
}

function toLogRecord(
  evaluation: Evaluation,
  { traceId, spanId, endTimeMs, run }: ScoredRunPlace,
  { explanations, nowMs }: OtlpScoreOptions,
): unknown {
  const isFailed = evaluation.score.status === 'failed'
  const rules = { explanations, stripContent: false }
  return {
    timeUnixNano: toNanoseconds(endTimeMs),
    observedTimeUnixNano: toNanoseconds(nowMs),
    severityNumber: isFailed ? WARN : INFO,
    severityText: isFailed ? 'WARN' : 'INFO',
    eventName: 'gen_ai.evaluation.result',
    traceId,
    spanId,
    attributes: toOtlpAttributes(eventAttributes(evaluation, run, { rules, verdictTimeMs: nowMs, extra: {} })),
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

import { isRecord } from '../spans/json.ts'
import { createBatch } from './batch.ts'
import type { OtlpBatch } from './batch.ts'
import { isJaegerTrace, readJaegerTrace } from './jaeger.ts'
import { addSdkSpan, isSdkLogOrMetric, isSdkSpan } from './sdk-json.ts'
import { addOtlpRecord, addOtlpRequest, fromProtobufNames, isOtlpRecord, isOtlpRequest } from './json.ts'

/** The contents of a JSON document of traces. */
export interface TraceJson {
  readonly batch: OtlpBatch
  /** The format of the first part that was not read, such as `looks like Zipkin v2, which is not supported`. */
  readonly unread?: string
  /** Set if it is an OTLP metrics request. */
  readonly isMetrics?: true
}

/**
 * Reads a JSON document of traces or logs: OTLP requests, Jaeger's query API (also version 3) and its page's download, Tempo's API (also
 * version 2), Grafana's download, records of Amazon CloudWatch, and lists of these.
 */
export function readTraceJson(value: unknown): TraceJson {
  const batch = createBatch()
  const unread = readInto(value, batch)
  if (unread !== undefined) return { batch, unread }
  return isRecord(value) && 'resourceMetrics' in value ? { batch, isMetrics: true } : { batch }
}

/** @returns what the value looks like if it has none of these formats */
function readInto(value: unknown, batch: OtlpBatch): string | undefined {
  if (Array.isArray(value)) return readList(value, batch)
  if (!isRecord(value)) return describeUnread(value)
  if (isOtlpRequest(value)) addOtlpRequest(value, batch)
  else if (PROTOBUF_NAMES.some((name) => has(value, name))) return readInto(fromProtobufNames(value), batch)
  else if (isOtlpRecord(value)) addOtlpRecord(value, batch)
  // A list of entries, as from `jq .resourceSpans[]`.
  else if (Array.isArray(value.scopeSpans)) addOtlpRequest({ resourceSpans: [value] }, batch)
  else if (Array.isArray(value.batches)) addOtlpRequest({ resourceSpans: value.batches }, batch)
  else if (isJaegerTrace(value)) readJaegerTrace(value, batch)
  else if (isSdkSpan(value)) addSdkSpan(value, batch)
  else if (isSdkLogOrMetric(value)) return undefined
  // Jaeger's API version 3.
  else if (isRecord(value.result)) return readJaegerResult(value.result, batch)
  // Tempo's API version 2.
  else if (isRecord(value.trace) && !has(value, 'observations')) return readInto(value.trace, batch)
  // Jaeger's API wraps its traces in a list, which is empty if it found none.
  else if (Array.isArray(value.data) && value.data.every(isJaegerTrace)) return readList(value.data, batch)
  else return describeUnread(value)
  return undefined
}

/** What distinguishes a request, or an entry of one, with the names of the protobuf definition. */
const PROTOBUF_NAMES = ['resource_spans', 'resource_logs', 'scope_spans', 'resource_metrics']

/** Jaeger returns the events of a span by name. */
function readJaegerResult(result: Readonly<Record<string, unknown>>, batch: OtlpBatch): string | undefined {
  const inOrder = createBatch()
  const unread = readInto(result, inOrder)
  for (const span of inOrder.spans) {
    batch.spans.push({ ...span, events: span.events.toSorted((left, right) => left.timeMs - right.timeMs) })
  }
  batch.logs.push(...inOrder.logs)
  batch.invalid += inOrder.invalid
  return unread
}

function readList(values: readonly unknown[], batch: OtlpBatch): string | undefined {
  let unread: string | undefined
  for (const value of values) {
    const found = readInto(value, batch)
    unread ??= found
  }
  return unread
}

/** Formats that are recognised by their keys, but not supported. */
const UNREAD_FORMS: readonly (readonly [name: string, matches: (value: Record<string, unknown>) => boolean])[] = [
  ['the console output of OpenTelemetry for JavaScript', (value) => has(value, 'traceId', 'instrumentationScope')],
  ['Zipkin v2', (value) => has(value, 'traceId', 'id') && (has(value, 'localEndpoint') || has(value, 'timestamp'))],
  ['Zipkin v1', (value) => has(value, 'traceId', 'binaryAnnotations')],
  [
    'Phoenix',
    (value) =>
      has(value, 'span_kind', 'parent_id') || has(value, 'context.span_id') || has(value, 'span_kind', 'context'),
  ],
  ['the console output of OpenTelemetry for Python', (value) => has(value, 'context', 'start_time')],
  ['Datadog', (value) => has(value, 'trace_id', 'span_id', 'resource') || has(value, 'meta', 'metrics', 'span_id')],
  ['AWS X-Ray', (value) => has(value, 'Traces') || has(value, 'Segments') || has(value, 'trace_id', 'subsegments')],
  ['LangSmith', (value) => has(value, 'run_type') || has(value, 'dotted_order')],
  ["Langfuse's API", (value) => has(value, 'observations') || has(value, 'traceId', 'startTime', 'type')],
  ['MLflow', (value) => has(value, 'info', 'data')],
  ['Elasticsearch', (value) => has(value, 'hits') || has(value, '_source')],
  ['a query of Azure Monitor', (value) => has(value, 'tables')],
  ['a log of containers, whose lines are below log', (value) => has(value, 'log', 'stream')],
  ['SkyWalking', (value) => has(value, 'segmentId') || has(value, 'traceSegmentId')],
  ['a Chrome trace', (value) => has(value, 'traceEvents') || has(value, 'ph', 'ts', 'pid')],
  ['what spanscore score --json prints', (value) => has(value, 'evaluations', 'summary')],
  ['what spanscore inspect --json prints', (value) => has(value, 'runs')],
]

function describeUnread(value: unknown): string {
  const first = Array.isArray(value) ? value[0] : value
  const sample = isRecord(first) && Array.isArray(first.data) ? first.data[0] : first
  const form = isRecord(sample) ? UNREAD_FORMS.find(([, matches]) => matches(sample)) : undefined
  if (form !== undefined) return `looks like ${form[0]}, which is not supported`
  return 'JSON in an unsupported format: expected OTLP (resourceSpans), Jaeger (data) or Tempo (batches)'
}

function has(value: Readonly<Record<string, unknown>>, ...keys: readonly string[]): boolean {
  return keys.every((key) => Object.hasOwn(value, key))
}

import { isRecord, numberOf, textOf } from '../spans/json.ts'
import { listOf, scopeFrom, setAttribute, toId, toStatusCode } from './batch.ts'
import type { OtlpBatch } from './batch.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Spans of the SDK for JavaScript as JSON, one a line: what GitHub Copilot Chat writes to `github.copilot.chat.otel.outfile`. Ids are fields of
 * the span, times are pairs of seconds and nanoseconds, and attributes are plain objects.
 */
export function isSdkSpan(value: Fields): boolean {
  const isSpan = typeof value.traceId === 'string' && typeof value.spanId === 'string'
  return isSpan && isRecord(value.instrumentationScope) && isTime(value.startTime)
}

/** True for a log record or a metric of the same file. The spans have all content. */
export function isSdkLogOrMetric(value: Fields): boolean {
  return isTime(value.hrTime) || Array.isArray(value.scopeMetrics)
}

/** Adds a span, or counts it as invalid. */
export function addSdkSpan(value: Fields, batch: OtlpBatch): void {
  const traceId = toId(value.traceId, 32)
  const spanId = toId(value.spanId, 16)
  if (traceId === undefined || spanId === undefined) {
    batch.invalid += 1
    return
  }
  const attributes = attributesOf(value.attributes)
  const scope = isRecord(value.instrumentationScope) ? value.instrumentationScope : {}
  const version = textOf(scope.version)
  const status = isRecord(value.status) ? value.status : {}
  const message = textOf(status.message)
  batch.spans.push({
    traceId,
    spanId,
    parentSpanId: toId(value.parentSpanId, 16),
    name: textOf(value.name) ?? '',
    // The SDK's kinds begin with 0 for an internal span, OTLP's with 1.
    kind: (numberOf(value.kind) ?? -1) + 1,
    scope: scopeFrom({ name: textOf(scope.name) ?? '', ...(version !== undefined && { version }) }, attributes),
    attributes,
    events: listOf(value.events)
      .filter(isRecord)
      .map((event) => ({
        name: textOf(event.name) ?? '',
        timeMs: toMs(event.time),
        attributes: attributesOf(event.attributes),
      })),
    status: { code: toStatusCode(status.code), ...(message !== undefined && { message }) },
    startTimeMs: toMs(value.startTime),
    endTimeMs: toMs(value.endTime),
    resource: attributesOf(isRecord(value.resource) ? value.resource.attributes : undefined),
    droppedAttributesCount: numberOf(value.droppedAttributesCount) ?? 0,
  })
}

function attributesOf(value: unknown): Record<string, unknown> {
  const attributes: Record<string, unknown> = {}
  if (isRecord(value)) for (const [key, item] of Object.entries(value)) setAttribute(attributes, key, item)
  return attributes
}

function isTime(value: unknown): value is readonly [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'number')
}

function toMs(value: unknown): number {
  return isTime(value) ? value[0] * 1000 + value[1] / 1e6 : 0
}

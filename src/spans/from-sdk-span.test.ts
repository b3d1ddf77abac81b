import { context, diag, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { expect, it, vi } from 'vitest'
import { toSourceSpan, type SdkSpanLike } from './from-sdk-span.ts'

const exporter = new InMemorySpanExporter()
const tracer = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }).getTracer('app', '1.2')

it("reads a real SDK's span, with OTLP's kinds and times in milliseconds", () => {
  const parent = tracer.startSpan('parent', { startTime: [1000, 500_000_000] })
  const inParent = trace.setSpan(context.active(), parent)
  const child = tracer.startSpan(
    'child',
    { kind: SpanKind.CLIENT, attributes: { a: 1 }, startTime: [1001, 0] },
    inParent,
  )
  child.addEvent('seen', { b: true }, [1001, 250_000])
  child.setStatus({ code: SpanStatusCode.ERROR, message: 'no' })
  child.end([1002, 1_500_000])
  expect(exporter.getFinishedSpans().map(toSourceSpan).map(toPlain)[0]).toEqual({
    ...child.spanContext(),
    traceFlags: undefined,
    parentSpanId: parent.spanContext().spanId,
    parentIsRemote: false,
    name: 'child',
    kind: 3,
    scope: { name: 'app', version: '1.2' },
    attributes: { a: 1 },
    events: [{ name: 'seen', timeMs: 1_001_000.25, attributes: { b: true } }],
    status: { code: 'error', message: 'no' },
    startTimeMs: 1_001_000,
    endTimeMs: 1_002_001.5,
    droppedAttributesCount: 0,
  })
})

it('reads the property names of the older SDK line, and a span that has not ended', () => {
  const span: SdkSpanLike = {
    name: 'old',
    kind: 0,
    spanContext: () => ({ traceId: 't', spanId: 's', traceFlags: 1 }),
    parentSpanId: 'p',
    instrumentationLibrary: { name: 'library' },
    attributes: {},
    events: [],
    status: { code: 0 },
    startTime: [5, 0],
    endTime: [0, 0],
    resource: { attributes: { 'service.name': 'x' } },
  }
  const source = toSourceSpan(span)
  expect(source.parentSpanId).toBe('p')
  expect(source.scope).toEqual({ name: 'library' })
  expect(source.status).toEqual({ code: 'unset' })
  expect(source.endTimeMs).toBe(source.startTimeMs)
  expect(source.resource).toEqual({ 'service.name': 'x' })
})

it('sees later changes of the span', () => {
  const attributes: Record<string, unknown> = {}
  const span = tracer.startSpan('live')
  const source = toSourceSpan({
    ...(span as unknown as SdkSpanLike),
    spanContext: () => span.spanContext(),
    attributes,
  })
  attributes['gen_ai.operation.name'] = 'chat'
  expect(source.attributes['gen_ai.operation.name']).toBe('chat')
})

function toPlain(source: ReturnType<typeof toSourceSpan>): unknown {
  const { traceId, spanId, parentSpanId, parentIsRemote, name, kind, scope, attributes, events, status } = source
  const { startTimeMs, endTimeMs, droppedAttributesCount } = source
  const times = { startTimeMs, endTimeMs, droppedAttributesCount }
  return { traceId, spanId, parentSpanId, parentIsRemote, name, kind, scope, attributes, events, status, ...times }
}

it('reads what is known of a resource whose detectors have not answered, without an error in the log of the SDK', () => {
  const error = vi.fn<() => void>()
  diag.setLogger({ error, warn: error, info() {}, debug() {}, verbose() {} })
  const { promise } = Promise.withResolvers<string>()
  const detected = resourceFromAttributes({ 'host.id': promise, 'service.name': 'of a detector' })
  const resource = detected.merge(resourceFromAttributes({ 'service.name': 'shop' }))
  const span = new TracerProvider({ resource }).getTracer('app').startSpan('agent')
  expect(toSourceSpan(span as unknown as SdkSpanLike).resource).toEqual({ 'service.name': 'shop' })
  expect(error).not.toHaveBeenCalled()
  diag.disable()
})

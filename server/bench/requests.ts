import { randomBytes } from 'node:crypto'

import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'

import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'

/** Spans of one request, as a batch processor sends them. */
const BATCH = 512

/**
 * OTLP requests in protobuf made of the recordings, each trace with ids of its own; a share of the spans is an application's own.
 */
export function requestsOf(count: number, foreignShare: number): Uint8Array[] {
  const recorded = libraryNames()
    .filter((name) =>
      /^(?:ai-7.*otel$|openinference-langchain|strands|mastra|python-openinference-openai-agents)/.test(name),
    )
    .flatMap((name) => loadLibrary(name).map((scenario) => readScenario(scenario).spans))
    .filter((spans) => spans.length > 0 && new Set(spans.map(({ traceId }) => traceId)).size === 1)
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  provider
    .getTracer('http')
    .startSpan('GET /', { attributes: { 'http.request.method': 'GET', 'url.path': '/' } })
    .end()
  const template = exporter.getFinishedSpans()[0]
  if (template === undefined) throw new Error('Expected a span.')
  const out: Uint8Array[] = []
  let batch: ReadableSpan[] = []
  const add = (span: ReadableSpan): void => {
    batch.push(span)
    if (batch.length < BATCH) return
    out.push(ProtobufTraceSerializer.serializeRequest(batch) ?? new Uint8Array())
    batch = []
  }
  let made = 0
  for (let index = 0; made < count; index++) {
    const traceId = randomBytes(16).toString('hex')
    const ids = new Map<string, string>()
    const newId = (id: string): string => {
      const known = ids.get(id) ?? randomBytes(8).toString('hex')
      ids.set(id, known)
      return known
    }
    for (const span of recorded[index % recorded.length] ?? []) {
      add({
        ...template,
        name: span.name,
        kind: Math.max(0, span.kind - 1),
        spanContext: () => ({ traceId, spanId: newId(span.spanId), traceFlags: 1 }),
        ...(span.parentSpanId !== undefined && {
          parentSpanContext: { traceId, spanId: newId(span.parentSpanId), traceFlags: 1 },
        }),
        startTime: toTime(span.startTimeMs),
        endTime: toTime(span.endTimeMs),
        status: { code: span.status.code === 'error' ? 2 : 0 },
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- attributes of a recording
        attributes: span.attributes as ReadableSpan['attributes'],
        events: span.events.map((event) => ({
          name: event.name,
          time: toTime(event.timeMs),
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- attributes of a recording
          attributes: event.attributes as ReadableSpan['attributes'],
        })),
        instrumentationScope: span.scope,
        resource: template.resource,
        links: [],
        duration: [0, 0],
        ended: true,
        droppedAttributesCount: 0,
        droppedEventsCount: 0,
        droppedLinksCount: 0,
      })
      made += 1
      for (let foreign = 0; foreign < foreignShare / (1 - foreignShare) - 0.5; foreign++) {
        const spanId = randomBytes(8).toString('hex')
        add({ ...template, spanContext: () => ({ traceId, spanId, traceFlags: 1 }) })
        made += 1
      }
    }
  }
  return out
}

function toTime(ms: number): [number, number] {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

import { ROOT_CONTEXT, SeverityNumber, trace } from '@opentelemetry/api'
import {
  JsonLogsSerializer,
  JsonTraceSerializer,
  ProtobufLogsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer'
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { describe, expect, it } from 'vitest'

import { placeIn } from '../traces/held-contents.ts'
import { RequestReader } from './read-request.ts'

const LIMITS = { maxSpansPerRequest: 100, maxSpanBytes: 1_000_000 }

/** Spans and log records of the SDK, with non-ASCII text, structured values, events and half of a surrogate pair. */
function recorded() {
  const spans = new InMemorySpanExporter()
  const logs = new InMemoryLogRecordExporter()
  const tracer = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }).getTracer(
    'agents',
  )
  const logger = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter: logs })] }).getLogger(
    'agents',
  )
  for (const text of ['Wetter in Köln? ☔'.repeat(50), 'plain', 'half \uD83D']) {
    const attributes = { 'gen_ai.operation.name': 'chat', text, numbers: [1, 2.5], flag: true }
    const span = tracer.startSpan(`chat ${text}`, { attributes })
    span.addEvent('happened', { text })
    const context = trace.setSpan(ROOT_CONTEXT, span)
    logger.emit({
      eventName: 'gen_ai.said',
      severityNumber: SeverityNumber.INFO,
      body: { text, list: [1, null] },
      context,
    })
    span.setStatus({ code: 2, message: text }).end()
  }
  return { spans: spans.getFinishedSpans(), logs: logs.getFinishedLogRecords() }
}

describe.each(['json', 'protobuf'] as const)('a request in %s', (encoding) => {
  it('restores every span and log record from its position alone, from memory and from the log', async () => {
    const reader = await RequestReader.create(LIMITS)
    const whole = await RequestReader.create(LIMITS, { skipsOrdinary: false })
    const { spans, logs } = recorded()
    const bodies = {
      json: [JsonTraceSerializer.serializeRequest([...spans]), JsonLogsSerializer.serializeRequest([...logs])],
      protobuf: [
        ProtobufTraceSerializer.serializeRequest([...spans]),
        ProtobufLogsSerializer.serializeRequest([...logs]),
      ],
    }[encoding]
    let count = 0
    for (const body of bodies) {
      const bytes = body ?? new Uint8Array()
      const { decoded } = whole.read(bytes, encoding)
      const sources = whole.sources({ signal: 'traces', encoding, contentEncoding: '', body: bytes })
      // Positions stay the same if some attributes are left out.
      expect(reader.read(bytes, encoding).decoded.bytes.places).toEqual(decoded.bytes.places)
      const again = reader.bodyOf({ signal: 'traces', encoding, contentEncoding: '', body: bytes })
      for (const from of [decoded.bytes.body, again]) {
        for (const [index, span] of sources.spans.entries()) {
          const { resource, scope } = span!
          expect(reader.span(from, placeIn(decoded.bytes, index), { resource, scope, ids: span! })).toEqual(span)
          count += 1
        }
        for (const [index, log] of sources.logs.entries()) {
          const place = placeIn(decoded.bytes, sources.spans.length + index)
          expect(reader.log(from, { ...place, scope: log!.scope })).toEqual(log)
          count += 1
        }
      }
    }
    expect(count).toBe(12)
  })
})

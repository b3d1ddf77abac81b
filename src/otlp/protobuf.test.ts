import { once } from 'node:events'
import { createServer } from 'node:http'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readOtlpJson } from './json.ts'
import { createProtobufDecoder } from './protobuf.ts'

type Write = (writer: BinaryWriter) => void

const text =
  (value: string): Write =>
  (writer) =>
    writer.tag(1, WireType.LengthDelimited).string(value)

const message =
  (field: number, write: Write): Write =>
  (writer) => {
    writer.tag(field, WireType.LengthDelimited).fork()
    write(writer)
    writer.join()
  }

describe('OTLP in protobuf', () => {
  it('reads what the exporter sends as the same spans that it sends in JSON', async () => {
    const memory = new InMemorySpanExporter()
    const resource = resourceFromAttributes({ 'service.name': 'shop', hosts: ['a', 'b'] })
    const provider = new BasicTracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor(memory)] })
    const tracer = provider.getTracer('gen_ai', '1.2.3')
    const span = tracer.startSpan('invoke_agent ünï 🎉', { kind: SpanKind.CLIENT })
    span.setAttributes({
      text: 'Tōkyō',
      whole: -5,
      large: 2 ** 52,
      part: 0.25,
      yes: true,
      list: ['x', 'y'],
      numbers: [1, 2],
    })
    span.addEvent('exception', { 'exception.message': 'broken' })
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'broken' })
    span.end()
    tracer.startSpan('second').end()

    const sent: Buffer[] = []
    const server = createServer((incoming, outgoing) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('end', () => {
        sent.push(Buffer.concat(chunks))
        outgoing.end()
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('expected a TCP address')
    const url = `http://127.0.0.1:${address.port}/v1/traces`
    for (const exporter of [new JsonExporter({ url }), new ProtobufExporter({ url })]) {
      await new Promise((resolve) => exporter.export(memory.getFinishedSpans(), resolve))
      await exporter.shutdown()
    }
    server.close()

    const decode = await createProtobufDecoder()
    const [json, protobuf] = sent
    if (json === undefined || protobuf === undefined) throw new Error('expected two requests')
    const expected = readOtlpJson(JSON.parse(json.toString()))
    expect(expected?.spans).toHaveLength(2)
    expect(decode(protobuf)).toEqual(expected)
  })

  it('reads structured values, and log records beside spans', async () => {
    const decode = await createProtobufDecoder()
    const entry = (key: string, value: (writer: BinaryWriter) => void) => (writer: BinaryWriter) => {
      writer.tag(1, WireType.LengthDelimited).string(key)
      message(2, value)(writer)
    }
    const body = message(6, (kvlist) => {
      message(1, entry('content', text('hi')))(kvlist)
      message(
        1,
        entry('none', () => {}),
      )(kvlist)
      message(
        1,
        entry('bytes', (value) => value.tag(7, WireType.LengthDelimited).bytes(Uint8Array.of(1, 2))),
      )(kvlist)
    })
    const record = (writer: BinaryWriter): void => {
      writer.tag(1, WireType.Bit64).fixed64(1_700_000_000_000_000_000n)
      message(5, body)(writer)
      writer.tag(9, WireType.LengthDelimited).bytes(Buffer.from('0af7651916cd43dd8448eb211c80319c', 'hex'))
      writer.tag(10, WireType.LengthDelimited).bytes(Buffer.from('b7ad6b7169203331', 'hex'))
      writer.tag(12, WireType.LengthDelimited).string('gen_ai.user.message')
    }
    const writer = new BinaryWriter()
    message(1, message(2, message(2, record)))(writer)
    expect(decode(writer.finish()).logs).toEqual([
      {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
        eventName: 'gen_ai.user.message',
        timeMs: 1_700_000_000_000,
        attributes: {},
        body: { content: 'hi', none: null, bytes: 'AQI=' },
        scope: { name: '' },
      },
    ])
  })

  it('throws on bytes that are no message, and on nothing worse', async () => {
    const decode = await createProtobufDecoder()
    const property = fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        decode(Uint8Array.of(0x0a, bytes.length % 128, ...bytes))
      } catch (error) {
        return error instanceof Error
      }
      return true
    })
    expect(() => fc.assert(property)).not.toThrow()
  })
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
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

interface Field {
  readonly number: number
  readonly wireType: WireType
  /** The tag and the value. */
  readonly bytes: Uint8Array
}

type Arrange = (fields: readonly Field[]) => readonly Field[]

/** Which fields of a message are messages themselves. */
interface Schema {
  readonly [field: number]: Schema
}

/** `AnyValue` and `KeyValue` hold each other. */
const anyValue: { [field: number]: Schema } = {}
const pair = { 2: anyValue }
Object.assign(anyValue, { 5: { 1: anyValue }, 6: { 1: pair } })
const spanFields = { 9: pair, 11: { 3: pair }, 13: { 4: pair }, 15: {} }
const traceRequest: Schema = { 1: { 1: { 1: pair }, 2: { 1: { 3: pair }, 2: spanFields } } }
const logRequest: Schema = { 1: { 1: { 1: pair }, 2: { 1: { 3: pair }, 2: { 5: anyValue, 6: pair } } } }

/** The same message with its fields, and those of the messages in it, in another order. */
function rearranged(bytes: Uint8Array, schema: Schema, arrange: Arrange): Uint8Array {
  const reader = new BinaryReader(bytes)
  const fields: Field[] = []
  while (reader.pos < reader.len) {
    const start = reader.pos
    const [number, wireType] = reader.tag()
    const inner = schema[number]
    if (inner === undefined) {
      reader.skip(wireType, number)
      fields.push({ number, wireType, bytes: bytes.subarray(start, reader.pos) })
    } else {
      const content = rearranged(reader.bytes(), inner, arrange)
      const writer = new BinaryWriter().tag(number, wireType).bytes(content)
      fields.push({ number, wireType, bytes: writer.finish() })
    }
  }
  return Buffer.concat(arrange(fields).map((field) => field.bytes))
}

/** Highest number first, as the Collector writes; the entries of a list keep their order. */
const descending: Arrange = (fields) => fields.toSorted((left, right) => right.number - left.number)

/** Numbers are shuffled; the entries of a list keep their order. */
const shuffledBy =
  (rank: (key: number) => number): Arrange =>
  (fields) => {
    const slots = fields
      .map((field, index) => ({ number: field.number, rank: rank(index * 31 + field.number) }))
      .toSorted((left, right) => left.rank - right.rank)
    const queues = Map.groupBy(fields, (field) => field.number)
    return slots.flatMap(({ number }) => queues.get(number)?.shift() ?? [])
  }

/** A trace request and a log request of the SDK's serializers, with every kind of field. */
function serialized(): { traces: Uint8Array; logs: Uint8Array } {
  const resource = resourceFromAttributes({ 'service.name': 'shop', hosts: ['a', 'b'] })
  const memory = new InMemorySpanExporter()
  const provider = new TracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor({ exporter: memory })] })
  const parent = provider.getTracer('agents', '1.2.3').startSpan('invoke_agent', { kind: SpanKind.CLIENT })
  const child = provider
    .getTracer('tools')
    .startSpan('execute_tool', { links: [{ context: parent.spanContext() }] }, trace.setSpan(ROOT_CONTEXT, parent))
  child.setAttributes({ whole: -5, part: 0.25, yes: true, list: ['x', 'y'] }).addEvent('exception', { text: 'broken' })
  child.setStatus({ code: SpanStatusCode.ERROR, message: 'broken' }).end()
  parent.end()
  const logMemory = new InMemoryLogRecordExporter()
  const logger = new LoggerProvider({ resource, processors: [new SimpleLogRecordProcessor({ exporter: logMemory })] })
  const context = trace.setSpan(ROOT_CONTEXT, parent)
  const body = { content: 'hi', parts: [1, 'two', { three: true }] }
  logger
    .getLogger('agents')
    .emit({ eventName: 'gen_ai.user.message', body, attributes: { 'gen_ai.system': 'x' }, context })
  logger.getLogger('agents').emit({ severityNumber: 9, body: 'second', context })
  const traces = ProtobufTraceSerializer.serializeRequest(memory.getFinishedSpans())
  const logs = ProtobufLogsSerializer.serializeRequest(logMemory.getFinishedLogRecords())
  if (traces === undefined || logs === undefined) throw new Error('expected two requests')
  return { traces, logs }
}

describe('OTLP in protobuf', () => {
  it('reads fields in descending order, as the Collector writes them, and in any other', async () => {
    const decode = await createProtobufDecoder()
    const { traces, logs } = serialized()
    // Where the spans are depends on the order.
    const withoutPlaces = (bytes: Uint8Array) => ({ ...decode(bytes), spanPlaces: undefined, logPlaces: undefined })
    const expected = { traces: withoutPlaces(traces), logs: withoutPlaces(logs) }
    expect(expected.traces.spans).toHaveLength(2)
    expect(expected.logs.logs).toHaveLength(2)
    const read = (arrange: Arrange): unknown => ({
      traces: withoutPlaces(rearranged(traces, traceRequest, arrange)),
      logs: withoutPlaces(rearranged(logs, logRequest, arrange)),
    })
    expect(read(descending)).toEqual(expected)
    const property = fc.property(fc.func(fc.nat()), (rank) => {
      expect(read(shuffledBy(rank))).toEqual(expected)
    })
    fc.assert(property)
  })

  it('stops at a limit of entries, and does not read the content of records over a limit of bytes', async () => {
    const decode = await createProtobufDecoder()
    const { traces, logs } = serialized()
    const whole = decode(traces)
    expect(whole).toMatchObject({ isCut: false })
    const limits = { maxEntries: 100, maxRecordBytes: 1e6 }
    expect(decode(traces, limits)).toEqual(whole)
    // A resource, and two scopes with a span each, are five entries.
    expect(decode(traces, { ...limits, maxEntries: 5 })).toEqual(whole)
    expect(decode(traces, { ...limits, maxEntries: 4 })).toMatchObject({ isCut: true })
    const small = { ...limits, maxRecordBytes: 10 }
    const bare = decode(traces, small)
    expect(bare.spanPlaces).toEqual(whole.spanPlaces)
    expect(bare.spans).toEqual(whole.spans.map((span) => ({ ...span, attributes: {}, events: [] })))
    const { logPlaces, logs: read } = decode(logs, small)
    expect(logPlaces).toEqual(decode(logs).logPlaces)
    expect(read.map(({ traceId, attributes, body }) => [traceId, attributes, body])).toEqual(
      decode(logs).logs.map(() => ['', {}, undefined]),
    )
  })

  it('takes metrics for neither spans nor log records, and reads a log record without times', async () => {
    const decode = await createProtobufDecoder()
    const metric = (writer: BinaryWriter): void => {
      message(7, (sum) => sum.tag(2, WireType.Varint).int32(2))(writer)
      for (const field of [3, 2, 1]) writer.tag(field, WireType.LengthDelimited).string('tokens')
    }
    const log = message(5, text('hello'))
    const batch = new BinaryWriter()
    message(
      1,
      message(2, (entries) => [metric, log].forEach((record) => message(2, record)(entries))),
    )(batch)
    const { spans, logs, invalid } = decode(batch.finish())
    expect({ spans, bodies: logs.map((record) => record.body), invalid }).toEqual({
      spans: [],
      bodies: ['hello'],
      invalid: 0,
    })
  })

  it('reads what the exporter sends as the same spans that it sends in JSON', async () => {
    const memory = new InMemorySpanExporter()
    const resource = resourceFromAttributes({ 'service.name': 'shop', hosts: ['a', 'b'] })
    const provider = new TracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor({ exporter: memory })] })
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
    const { spanPlaces, logPlaces, isCut, ...batch } = decode(protobuf)
    expect(isCut).toBe(false)
    expect(logPlaces).toEqual([])
    expect(batch).toEqual(expected)
    // A span can be decoded again from its place alone.
    const [first] = batch.spans
    const [start = 0, end = 0] = spanPlaces
    if (first === undefined) throw new Error('expected a span')
    const known = { resource: first.resource, scope: first.scope, ids: first }
    expect(decode.again(protobuf).span(start, end, known)).toEqual(first)
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

  it('throws an error for bytes that are not a message', async () => {
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

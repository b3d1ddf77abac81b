import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { gzipSync, zstdCompressSync } from 'node:zlib'

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { credentials, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { RunningServer } from '../src/start.ts'
import { grpcExport } from './grpc-export.ts'
import type { Sink } from './sink.ts'
import { startTestedServer } from './tested-server.ts'
import type { TestedServer } from './tested-server.ts'
import { makeRun, post } from './traces.ts'

let tested: TestedServer
let sink: Sink
let server: RunningServer
beforeAll(async () => {
  tested = await startTestedServer()
  ;({ sink, server } = tested)
})
afterAll(() => tested[Symbol.asyncDispose]())

const HEAD = 'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const EXPORT = {
  ':method': 'POST',
  ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  'content-type': 'application/grpc',
  te: 'trailers',
}

interface Counts {
  readonly received: { readonly refused: Readonly<Record<string, number>>; readonly bytesInFlight: number }
  readonly service: { readonly errors: number; readonly undecodable: number }
}

const counts = () => server.counts() as Counts
const refused = () => Object.values(counts().received.refused).reduce((sum, count) => sum + count, 0)

/** Sends bytes as they are. @returns The status of the answer; `undefined` if the connection ends without one */
function statusOf(bytes: string | Buffer): Promise<number | undefined> {
  return new Promise((resolve) => {
    const socket = connect(server.httpPort, '127.0.0.1', () => socket.write(bytes))
    socket.once('data', (chunk) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1]))
      socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(undefined))
  })
}

async function send(body: string | Buffer, encoding?: string, type = 'application/x-protobuf'): Promise<number> {
  const headers = { 'content-type': type, ...(encoding !== undefined && { 'content-encoding': encoding }) }
  const url = `http://127.0.0.1:${server.httpPort}/v1/traces`
  const response = await fetch(url, { method: 'POST', headers, body: Buffer.from(body) })
  await response.arrayBuffer()
  return response.status
}

const json = (body: string | Buffer) => send(body, undefined, 'application/json')

/** A request with one agent span that has these changes. */
function request(change: object): string {
  const span = {
    traceId: 'ab'.repeat(16),
    spanId: '1234567890abcdef',
    name: 'invoke_agent x',
    startTimeUnixNano: '1790000000000000000',
    endTimeUnixNano: '1790000001000000000',
    attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: 'invoke_agent' } }],
    ...change,
  }
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ scope: { name: 'x' }, spans: [span] }] }] })
}

/** Starts a gRPC call and sends bytes. @returns The status with which it ends */
async function grpcStatus(bytes: Buffer, headers: Record<string, string> = {}): Promise<number> {
  const session = connectHttp2(`http://127.0.0.1:${server.grpcPort}`)
  const stream = session.request({ ...EXPORT, ...headers })
  stream.on('error', () => undefined)
  const found = await new Promise<unknown>((resolve) => {
    const look = (sent: Record<string, unknown>): void => {
      if (sent['grpc-status'] !== undefined) resolve(sent['grpc-status'])
    }
    stream.on('response', look)
    stream.on('trailers', look)
    stream.on('close', () => resolve(undefined))
    stream.resume().end(bytes)
  })
  session.destroy()
  return Number(found)
}

const nested = (depth: number) =>
  request({}).replace(
    '"stringValue":"invoke_agent"',
    `${'"arrayValue":{"values":[{'.repeat(depth)}${'}]}'.repeat(depth)}`,
  )

/** Small requests whose contents would take gigabytes. */
const EMPTY_SPANS = Buffer.alloc(6_000_000).fill(Buffer.of(0x12, 0))
const EMPTY_VALUES = `{"resourceSpans":[${'{},'.repeat(2_500_000)}{}]}`

/** A message in a field of protobuf. */
function inField(field: number, content: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(content).finish()
}

describe('hostile requests are refused with a status and counted, while others are served', () => {
  it.each([
    ['a chunked body that stops', () => statusOf(`${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":`), 408],
    [
      'a chunk that claims exabytes',
      () => statusOf(`${HEAD}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF\r\n{`),
      408,
    ],
    ['endless chunk extensions', () => statusOf(`${HEAD}Transfer-Encoding: chunked\r\n\r\n5;${'a'.repeat(1e5)}`), 413],
    ['a negative length', () => statusOf(`${HEAD}Content-Length: -2\r\n\r\n{}`), 400],
    ['two lengths', () => statusOf(`${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`), 400],
    [
      'a length and chunks',
      () => statusOf(`${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
      400,
    ],
    ['another coding after chunked', () => statusOf(`${HEAD}Transfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n`), 400],
    ['a space before the colon', () => statusOf(`${HEAD}Content-Length : 2\r\n\r\n{}`), 400],
    ['a folded header', () => statusOf(`${HEAD}X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}`), 400],
    ['lines that end without a carriage return', () => statusOf('POST / HTTP/1.1\nHost: localhost\n\n'), 400],
    ['HTTP/2', () => statusOf('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), 400],
    ['TLS', () => statusOf(Buffer.from('16030100ff010000fb0303', 'hex')), 400],
    ['thousands of headers', () => statusOf(`${HEAD}${'X: y\r\n'.repeat(5000)}\r\n`), 431],
    ['a long path', () => statusOf(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`), 431],
    [
      'an announced body that is too large',
      () => statusOf(`${HEAD}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n`),
      413,
    ],
    [
      'another host in the request line',
      () => statusOf('GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      404,
    ],
    [
      'an upgrade',
      () => statusOf('GET /v1/traces HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      405,
    ],
    ['zstd in gzip', () => send(gzipSync(zstdCompressSync(Buffer.alloc(100))), 'gzip'), 400],
    ['two encodings', () => send(gzipSync(''), 'zstd, gzip'), 415],
    ['no bytes, compressed', () => send('', 'gzip'), 400],
    ['half of a gzip', () => send(gzipSync(Buffer.alloc(1000)).subarray(0, 20), 'gzip'), 400],
    ['bytes after a gzip', () => send(Buffer.concat([gzipSync(''), Buffer.from('garbage')]), 'gzip'), 400],
    [
      'a bomb of many gzips',
      () => send(Buffer.concat(Array.from({ length: 500 }, () => gzipSync(Buffer.alloc(1e5)))), 'gzip'),
      413,
    ],
    ['field 0', () => send(Buffer.from([0, 0])), 400],
    ['a length of 4 GiB', () => send(Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f])), 400],
    ['open groups', () => send(Buffer.alloc(1e5, 0x0b)), 400],
    ['millions of empty spans', () => send(gzipSync(inField(1, inField(2, EMPTY_SPANS))), 'gzip'), 413],
    ['millions of empty scopes', () => send(gzipSync(inField(1, EMPTY_SPANS)), 'gzip'), 413],
    ['millions of empty values', () => send(gzipSync(EMPTY_VALUES), 'gzip', 'application/json'), 413],
    ['nested lists', () => json(`${'['.repeat(2e5)}${']'.repeat(2e5)}`), 400],
    ['no UTF-8', () => json(Buffer.from([0x22, 0xff, 0xfe, 0x22])), 400],
    ['an object in place of a list', () => json('{"resourceSpans":{"scopeSpans":7}}'), 400],
    ['a number', () => json('5'), 400],
    ['nothing', () => json(''), 400],
  ] as const)('%s by HTTP', async (_, attempt, expected) => {
    const before = refused()
    const [outcome, other] = await Promise.all([attempt(), post(server.httpPort, makeRun().requests[0])])
    expect([outcome, other]).toEqual([expected, 200])
    await expect.poll(() => refused() - before, { timeout: 10_000 }).toBe(1)
  })

  it.each([
    ['no message', Buffer.alloc(0), {}, status.UNIMPLEMENTED],
    ['a message of 4 GiB', Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1]), {}, status.RESOURCE_EXHAUSTED],
    ['compressed garbage', Buffer.from([1, 0, 0, 0, 2, 1, 2]), { 'grpc-encoding': 'gzip' }, status.INVALID_ARGUMENT],
    ['an unknown compression', Buffer.from([1, 0, 0, 0, 2, 1, 2]), { 'grpc-encoding': 'snappy' }, status.UNIMPLEMENTED],
  ] as const)('%s by gRPC', async (_, bytes, headers, expected) => {
    const before = refused()
    expect(await grpcStatus(bytes, headers)).toBe(expected)
    await expect.poll(() => refused() - before, { timeout: 10_000 }).toBe(1)
    expect(await grpcExport(server.grpcPort, credentials.createInsecure(), Buffer.alloc(0))).toBe(status.OK)
  })

  it('thousands of gRPC calls that are reset immediately leave nothing in memory', async () => {
    const session = connectHttp2(`http://127.0.0.1:${server.grpcPort}`)
    session.on('error', () => undefined)
    await once(session, 'connect')
    for (let count = 0; count < 10_000 && !session.destroyed; count++) {
      const stream = session.request(EXPORT)
      stream.on('error', () => undefined)
      stream.close(8)
      if (count % 200 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await grpcExport(server.grpcPort, credentials.createInsecure(), Buffer.alloc(0))).toBe(status.OK)
    session.destroy()
    await expect.poll(() => counts().received.bytesInFlight, { timeout: 10_000 }).toBe(0)
  })
})

it.each([
  ['values that are nested 50,000 deep', nested(50_000)],
  ['times before 1970', request({ startTimeUnixNano: '-5', endTimeUnixNano: -1 })],
  ['times beyond 64 bits', request({ startTimeUnixNano: '9'.repeat(400), endTimeUnixNano: 1e300 })],
  ['times that are no numbers', request({ startTimeUnixNano: 'abc', endTimeUnixNano: {} })],
  ['ids of another length', request({ traceId: 'ab', spanId: '12' })],
  ['a span that is its own parent', request({ traceId: 'cd'.repeat(16), parentSpanId: '1234567890abcdef' })],
  [
    'values of other types',
    request({ attributes: [null, 5, { key: 7 }], events: [null], status: 9, kind: 'x', name: 7 }),
  ],
  [
    'nulls',
    '{"resourceSpans":[null,{"scopeSpans":null},{"scopeSpans":[null,{"spans":[null,5,[]]}]}],"resourceLogs":null}',
  ],
  ['a key twice, and __proto__', `{"resourceSpans":[],"__proto__":{"a":1},${request({}).slice(1)}`],
])('takes %s as far as it can be read, and no run of others suffers', async (_, body) => {
  const run = makeRun()
  expect(await json(body)).toBe(200)
  for (const each of run.requests) expect(await post(server.httpPort, each)).toBe(200)
  await expect.poll(() => sink.logs.some(({ traceId }) => traceId === run.traceId), { timeout: 15_000 }).toBe(true)
  expect(counts().service).toMatchObject({ errors: 0, undecodable: 0 })
})

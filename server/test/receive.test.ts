import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import { gzipSync, zstdCompressSync } from 'node:zlib'

import { credentials, status } from '@grpc/grpc-js'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import type { RunningServer } from '../src/start.ts'
import { grpcExport } from './grpc-export.ts'
import { serverOptions } from './server-options.ts'
import type { Sink } from './sink.ts'
import { startTestedServer } from './tested-server.ts'
import type { TestedServer } from './tested-server.ts'
import { makeRun, post, toRequest } from './traces.ts'

let tested: TestedServer
let sink: Sink
let server: RunningServer
beforeAll(async () => {
  tested = await startTestedServer()
  ;({ sink, server } = tested)
})
afterAll(() => tested[Symbol.asyncDispose]())

/** Spans as the official exporter writes them in protobuf. */
function protobufRequest(count = 3): Buffer {
  const exporter = new InMemorySpanExporter()
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
  for (let index = 0; index < count; index++) provider.getTracer('test').startSpan(`span ${index}`).end()
  const bytes = ProtobufTraceSerializer.serializeRequest(exporter.getFinishedSpans())
  return Buffer.from(bytes!)
}

async function send(
  body: string | Buffer,
  headers: Record<string, string>,
  path = '/v1/traces',
  method = 'POST',
): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.httpPort}${path}`, {
    method,
    headers,
    // oxlint-disable-next-line unicorn/no-invalid-fetch-options -- never a GET
    body,
  })
  await response.arrayBuffer()
  return response.status
}

function largeSpan() {
  return {
    traceId: 'ab'.repeat(16),
    spanId: '1234567890abcdef',
    name: 'x',
    attributes: [{ key: 'gen_ai.input.messages', value: { stringValue: 'x'.repeat(2 * 1024 * 1024) } }],
  }
}

const proto = { 'content-type': 'application/x-protobuf' }

/** True if other senders are answered. */
async function expectAnswering(): Promise<void> {
  expect(await post(server.httpPort, makeRun().requests[0])).toBe(200)
}

describe('what is accepted', () => {
  it('is protobuf and JSON, without compression or with gzip or zstd', async () => {
    const body = protobufRequest()
    expect(await send(body, proto)).toBe(200)
    expect(await send(gzipSync(body), { ...proto, 'content-encoding': 'gzip' })).toBe(200)
    expect(await send(zstdCompressSync(body), { ...proto, 'content-encoding': 'zstd' })).toBe(200)
    expect(await post(server.httpPort, toRequest([]))).toBe(200)
  })

  it('reports spans without valid ids in a partial success', async () => {
    const response = await fetch(`http://127.0.0.1:${server.httpPort}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(toRequest([{ traceId: '0'.repeat(32), spanId: '1234567890abcdef', name: 'x' }])),
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      partialSuccess: { rejectedSpans: '1', errorMessage: 'They carry no valid trace and span id.' },
    })
  })

  it('is gRPC as well', async () => {
    expect(await sendByGrpc(protobufRequest())).toBe('ok')
    await expect(sendByGrpc(Buffer.from('no protobuf at all'))).resolves.toBe(status.INVALID_ARGUMENT)
  })
})

describe('what is refused', () => {
  it.each([
    ['broken protobuf', () => send(Buffer.from([0x0a, 0xff, 0x01]), proto), 400],
    ['random bytes', () => send(randomBytes(1000), proto), 400],
    ['broken JSON', () => send('{"resourceSpans": [', { 'content-type': 'application/json' }), 400],
    ['JSON that is no request', () => send('{"hello": 1}', { 'content-type': 'application/json' }), 400],
    ['broken gzip', () => send(Buffer.from('not gzip'), { ...proto, 'content-encoding': 'gzip' }), 400],
    ['another encoding', () => send(protobufRequest(), { ...proto, 'content-encoding': 'br' }), 415],
    ['another type', () => send('hello', { 'content-type': 'text/plain' }), 415],
    ['another path', () => send(protobufRequest(), proto, '/v1/metrics'), 404],
    ['another method', () => send(protobufRequest(), proto, '/v1/traces', 'PUT'), 405],
    ['a body that is too large', () => send(Buffer.alloc(5 * 1024 * 1024), proto), 413],
    [
      'a gzip bomb',
      () => send(gzipSync(Buffer.alloc(64 * 1024 * 1024)), { ...proto, 'content-encoding': 'gzip' }),
      413,
    ],
    [
      'a zstd bomb',
      () => send(zstdCompressSync(Buffer.alloc(64 * 1024 * 1024)), { ...proto, 'content-encoding': 'zstd' }),
      413,
    ],
    ['too many spans', () => send(protobufRequest(20_001), proto), 413],
    ['a span that is too large', () => post(server.httpPort, toRequest([largeSpan()])), 413],
    ['a web page', () => send(protobufRequest(), { ...proto, origin: 'https://evil.example' }), 403],
  ] as const)('%s, while others are answered', async (_, attempt, expected) => {
    const [outcome] = await Promise.all([attempt(), expectAnswering()])
    expect(outcome).toBe(expected)
    await expectAnswering()
  })

  it('a host name that is not ours', async () => {
    expect(
      await rawRequest(
        'POST /v1/traces HTTP/1.1\r\nHost: rebound.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
      ),
    ).toMatch(/^HTTP\/1\.1 403/)
  })

  it('a sender that is slow with its headers or its body', async () => {
    const [headers, body] = await Promise.all([
      rawRequest('POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nX-Slow: '),
      rawRequest(
        'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{',
      ),
      expectAnswering(),
    ])
    expect(headers).toMatch(/^HTTP\/1\.1 408|^$/)
    expect(body).toMatch(/^HTTP\/1\.1 408|^$/)
  })

  it('connections beyond the limit if all of them have a request; otherwise a new one replaces the longest idle one', async () => {
    const limits = { ...serverOptions('').limits, maxConnections: 4, requestTimeoutMs: 60_000 }
    const small = await startServer(serverOptions(sink.url, { limits }))
    const begun =
      'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n'
    const health = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'
    const idle = connect(small.httpPort, '127.0.0.1')
    await once(idle, 'connect')
    const busy = Array.from({ length: 4 }, () => connect(small.httpPort, '127.0.0.1'))
    for (const socket of busy) socket.write(begun)
    await expect.poll(() => idle.resume().destroyed).toBe(true)
    await expect.poll(() => rawRequest(health, small.httpPort)).toBe('')
    for (const socket of busy) {
      const answer = once(socket, 'data')
      socket.write('{"resourceSpans":[]}')
      expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 200/)
      socket.destroy()
    }
    await small.stop()
  })

  it('connections that ask for health without a token, while a sender is answered', async () => {
    const limits = { ...serverOptions('').limits, maxConnections: 10 }
    const access = { token: 'secret', allowedHosts: [], hasClientCertificates: false }
    const small = await startServer(serverOptions(sink.url, { limits, access }))
    const others = Array.from({ length: 30 }, () => connect(small.httpPort, '127.0.0.1'))
    for (const socket of others)
      socket.on('error', () => undefined).write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await Promise.all(others.map((socket) => once(socket.resume(), 'close')))
    const token = { authorization: 'Bearer secret' }
    expect(await post(small.httpPort, makeRun().requests[0], '/v1/traces', token)).toBe(200)
    await small.stop()
  })

  it('a span of 10 MB, and a message that is too large by gRPC', async () => {
    const text = 'x'.repeat(10 * 1024 * 1024)
    const span = { ...largeSpan(), attributes: [{ key: 'gen_ai.input.messages', value: { stringValue: text } }] }
    const body = gzipSync(JSON.stringify(toRequest([span])))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const [byHttp, byGrpc] = await Promise.all([
      send(body, headers),
      sendByGrpc(Buffer.alloc(10 * 1024 * 1024)),
      expectAnswering(),
    ])
    expect(byHttp).toBe(413)
    expect(byGrpc).toBe(status.RESOURCE_EXHAUSTED)
  })

  it('is counted by reason', () => {
    const { refused } = (server.counts() as { received: { refused: Record<string, number> } }).received
    expect(Object.keys(refused)).toEqual(
      expect.arrayContaining([
        'malformed',
        'too-large',
        'unsupported-type',
        'forbidden',
        'not-found',
        'method-not-allowed',
      ]),
    )
  })

  it('gives the reason without quoting what was sent', async () => {
    const response = await fetch(`http://127.0.0.1:${server.httpPort}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"secret-of-a-user": nonsense}',
    })
    const body = await response.text()
    expect(response.status).toBe(400)
    expect(body).toContain('does not parse')
    expect(body).not.toMatch(/secret|nonsense/)
  })
})

describe('a service with a token', () => {
  it('accepts only requests with the token, by HTTP and by gRPC', async () => {
    const guarded = await startServer(
      serverOptions(sink.url, {
        host: '0.0.0.0',
        access: { token: 'a-token', allowedHosts: [], hasClientCertificates: false },
      }),
    )
    const request = makeRun().requests[0]
    expect(await post(guarded.httpPort, request)).toBe(401)
    expect(await post(guarded.httpPort, request, '/v1/traces', { authorization: 'Bearer another' })).toBe(401)
    expect(await post(guarded.httpPort, request, '/v1/traces', { authorization: 'Bearer a-token' })).toBe(200)
    expect(await sendByGrpc(protobufRequest(), guarded.grpcPort)).toBe(status.UNAUTHENTICATED)
    expect(await sendByGrpc(protobufRequest(), guarded.grpcPort, 'a-token')).toBe('ok')
    expect((await fetch(`http://127.0.0.1:${guarded.httpPort}/health`)).status).toBe(200)
    await guarded.stop()
  })

  it('needs one on addresses beyond this machine', async () => {
    await expect(startServer(serverOptions(sink.url, { host: '0.0.0.0' }))).rejects.toThrow(
      /expected a loopback address, or a token/,
    )
  })
})

describe('a service does not send to itself', () => {
  it.each(['localhost', '[::1]', '0.0.0.0', '[::]'])('by the name %s', async (name) => {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    await expect(startServer(serverOptions(`http://${name}:${port}`, { httpPort: port }))).rejects.toThrow(
      /the address of this service itself/,
    )
  })

  it('by the name of its machine, if it listens on all addresses', async () => {
    const port = 20_000 + Math.floor(Math.random() * 20_000)
    const access = { token: 'secret', allowedHosts: [], hasClientCertificates: false }
    await expect(
      startServer(serverOptions(`http://${hostname()}:${port}`, { host: '0.0.0.0', httpPort: port, access })),
    ).rejects.toThrow(/the address of this service itself/)
  })

  it.each(['a proxy', 'another service that forwards'])(
    'through %s: forwarded requests wait, and a report says why',
    async (between) => {
      let target = 0
      const proxy = createServer((request, response) => {
        const { method, url, headers } = request
        request.pipe(
          httpRequest({ port: target, method, path: url, headers }, (answer) => {
            response.writeHead(answer.statusCode ?? 0, answer.headers)
            answer.pipe(response)
          }).on('error', () => response.destroy()),
        )
      })
      proxy.listen(0, '127.0.0.1')
      await once(proxy, 'listening')
      const { port } = proxy.address() as AddressInfo
      const lines: string[] = []
      const report = (line: string) => void lines.push(line)
      const looped = await startServer(serverOptions(`http://127.0.0.1:${port}`, { forwards: true, report }))
      const other = await startServer(serverOptions(`http://127.0.0.1:${looped.httpPort}`, { forwards: true }))
      target = between === 'a proxy' ? looped.httpPort : other.httpPort
      expect(await post(looped.httpPort, makeRun().requests[0])).toBe(200)
      const why = expect.stringContaining('--to leads back to this service')
      await expect.poll(() => lines).toContainEqual(why)
      const waiting = { received: { requests: 1 }, forward: { forwarded: 0, waiting: 1 } }
      expect((between === 'a proxy' ? looped : other).counts()).toMatchObject(waiting)
      expect(looped.counts()).toMatchObject({ received: { requests: 1 } })
      await Promise.all([looped.stop(500), other.stop(500)])
      proxy.close()
    },
  )
})

describe('health and readiness', () => {
  it('are separate: an unavailable destination affects only readiness', async () => {
    expect((await fetch(`http://127.0.0.1:${server.httpPort}/health`)).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${server.httpPort}/ready`)).status).toBe(200)
    const away = await startServer(
      serverOptions(sink.url, { limits: { ...serverOptions('').limits, maxLogBytes: 10 } }),
    )
    await post(away.httpPort, makeRun().requests[0])
    expect(await post(away.httpPort, makeRun().requests[0])).toBe(503)
    // It is refused before it is decompressed and read, because senders repeat it until there is room.
    const broken = await fetch(`http://127.0.0.1:${away.httpPort}/v1/traces`, {
      method: 'POST',
      headers: { ...proto, 'content-encoding': 'gzip' },
      body: 'not gzip',
    })
    expect([broken.status, broken.headers.get('retry-after'), broken.headers.get('connection')]).toEqual([
      503,
      '1',
      'keep-alive',
    ])
    expect(await sendByGrpc(Buffer.from('no protobuf at all'), away.grpcPort)).toBe(status.UNAVAILABLE)
    expect((await fetch(`http://127.0.0.1:${away.httpPort}/ready`)).status).toBe(503)
    expect((await fetch(`http://127.0.0.1:${away.httpPort}/health`)).status).toBe(200)
    await away.stop()
  })
})

async function sendByGrpc(body: Buffer, port = server.grpcPort, token?: string): Promise<'ok' | number> {
  return (await grpcExport(port, credentials.createInsecure(), body, token)) || 'ok'
}

/** Sends bytes unchanged. @returns Everything that is received until the connection is closed */
function rawRequest(text: string, port = server.httpPort): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk.toString()
      socket.end()
    })
    socket.on('error', () => resolve(answer))
    socket.on('close', () => resolve(answer))
  })
}

import { once } from 'node:events'
import { connect as connectHttp2, constants } from 'node:http2'
import type { ClientHttp2Session, ClientHttp2Stream, Http2Session } from 'node:http2'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { credentials, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import type { RunningServer, ServerOptions } from '../src/start.ts'
import { grpcExport } from './grpc-export.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import type { Sink } from './sink.ts'

const PATH = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

let sink: Sink
let server: RunningServer
const sessions: ClientHttp2Session[] = []
const sockets: Socket[] = []
beforeAll(async () => {
  sink = await createSink()
  server = await startServer(serverOptions(sink.url))
})
afterAll(async () => {
  for (const session of sessions) session.destroy()
  for (const socket of sockets) socket.destroy()
  await server.stop()
  await sink[Symbol.asyncDispose]()
})

function open(port = server.grpcPort): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`)
  session.on('error', () => undefined)
  sessions.push(session)
  return session
}

/** Starts a call without sending a message. */
function begin(session: ClientHttp2Session, headers: Record<string, string> = {}): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  stream.on('error', () => undefined)
  return stream.resume()
}

/** Resolves when the server has read what was sent before. */
function answered(session: Http2Session): Promise<unknown> {
  return new Promise((resolve) => {
    const ping = () => session.ping((...result) => resolve(result))
    if (session.connecting) session.once('connect', ping)
    else ping()
  })
}

/** The status with which a call ends. It is in the trailers, or in the headers if there is nothing else. */
async function statusOf(stream: ClientHttp2Stream): Promise<number> {
  const found = await new Promise<unknown>((resolve) => {
    const look = (headers: Record<string, unknown>): void => {
      if (headers['grpc-status'] !== undefined) resolve(headers['grpc-status'])
    }
    stream.on('response', look)
    stream.on('trailers', look)
    stream.on('close', () => resolve('closed'))
  })
  return Number(found)
}

/** A gRPC message, which consists of a compression flag, the length, and the bytes. */
function framed(message: Buffer, isCompressed = false): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(isCompressed ? 1 : 0)
  head.writeUInt32BE(message.byteLength, 1)
  return Buffer.concat([head, message])
}

/** A request that has a field of zeros, which no decoder knows. */
function unknownField(bytes: number): Buffer {
  return Buffer.from(new BinaryWriter().tag(15, WireType.LengthDelimited).bytes(Buffer.alloc(bytes)).finish())
}

async function withLimits(limits: ServerOptions['limits']): Promise<RunningServer & AsyncDisposable> {
  const started = await startServer(serverOptions(sink.url, { limits }))
  return { ...started, [Symbol.asyncDispose]: () => started.stop() }
}

const exportEmpty = (port = server.grpcPort) => grpcExport(port, credentials.createInsecure(), Buffer.of())
const received = (of = server) =>
  (of.counts() as { received: { refused: Record<string, number>; refusedConnections: number } }).received

describe('by gRPC', () => {
  it('a message that does not arrive completely in time is refused, and its connection is closed, while others are answered', async () => {
    const session = open()
    const stream = begin(session)
    stream.write(framed(Buffer.alloc(1000)).subarray(0, 100))
    const [code] = await Promise.all([statusOf(stream), exportEmpty()])
    expect(code).toBe(status.DEADLINE_EXCEEDED)
    await once(session, 'close')
    expect(received().refused).toMatchObject({ 'timed-out': 1 })
    expect(await exportEmpty()).toBe(status.OK)
  })

  it('a connection that makes no call is closed, whether it speaks the protocol or not', async () => {
    const silent = connect(server.grpcPort, '127.0.0.1')
    sockets.push(silent)
    const speaking = open()
    await Promise.all([once(silent.resume(), 'close'), once(speaking, 'close')])
    expect([silent.destroyed, speaking.destroyed]).toEqual([true, true])
  })

  it('a connection that has made a call stays open', async () => {
    const session = open()
    const first = begin(session)
    first.end(framed(Buffer.of()))
    expect(await statusOf(first)).toBe(status.OK)
    await new Promise((resolve) => setTimeout(resolve, serverOptions('').limits.requestTimeoutMs + 500))
    const second = begin(session)
    second.end(framed(Buffer.of()))
    expect(await statusOf(second)).toBe(status.OK)
  })

  it('a compressed message that grows over the limit is refused', async () => {
    const session = open()
    const stream = begin(session, { 'grpc-encoding': 'gzip' })
    stream.end(framed(gzipSync(Buffer.alloc(64 * 1024 * 1024)), true))
    const [code] = await Promise.all([statusOf(stream), exportEmpty()])
    expect(code).toBe(status.RESOURCE_EXHAUSTED)
    expect(received().refused).toMatchObject({ 'too-large': 1 })
    expect(await exportEmpty()).toBe(status.OK)
  })

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
  ])('a message compressed with %s is taken', async (encoding, compress) => {
    const stream = begin(open(), { 'grpc-encoding': encoding })
    stream.end(framed(compress(unknownField(100_000)), true))
    expect(await statusOf(stream)).toBe(status.OK)
  })

  it('messages that are decompressed at the same time share the limit of all requests, and others are sent again later', async () => {
    const limits = { ...serverOptions('').limits, maxReceivingBytes: 12 * 1024 * 1024 }
    await using small = await withLimits(limits)
    const message = framed(gzipSync(unknownField(7 * 1024 * 1024)), true)
    const session = open(small.grpcPort)
    const streams = Array.from({ length: 20 }, () => begin(session, { 'grpc-encoding': 'gzip' }).end(message))
    const codes = await Promise.all(streams.map((stream) => statusOf(stream)))
    expect(new Set(codes)).toEqual(new Set([status.OK, status.UNAVAILABLE]))
    expect(small.counts()).toMatchObject({ received: { bytesInFlight: 0 } })
  })

  it('one connection may have a hundred calls open', async () => {
    const session = open()
    await once(session, 'remoteSettings')
    expect(session.remoteSettings.maxConcurrentStreams).toBe(100)
    for (let count = 0; count < 100; count++) begin(session)
    expect(await exportEmpty()).toBe(status.OK)
    session.destroy()
  })

  it('a connection beyond the limit replaces an idle one; if all are in use, it is not accepted', async () => {
    const limits = { ...serverOptions('').limits, maxConnections: 3, requestTimeoutMs: 60_000 }
    const small = await startServer(serverOptions(sink.url, { limits }))
    const idle = open(small.grpcPort)
    await once(idle, 'remoteSettings')
    const busy = [open(small.grpcPort), open(small.grpcPort)].map((session) => begin(session))
    for (const stream of busy) stream.write(framed(Buffer.alloc(10)).subarray(0, 7))
    await Promise.all(busy.map(({ session }) => answered(session!)))
    const instead = open(small.grpcPort)
    await once(idle, 'close')
    const third = begin(instead)
    third.write(framed(Buffer.alloc(10)).subarray(0, 7))
    await answered(instead)
    expect(await exportEmpty(small.grpcPort)).toBe(status.UNAVAILABLE)
    expect(received(small).refusedConnections).toBeGreaterThanOrEqual(2)
    // A call that hangs does not delay the end of the service.
    await small.stop()
  })

  it('a sender without the token is refused before it sends its message', async () => {
    const access = { token: 'a-token', allowedHosts: [], hasClientCertificates: false }
    const guarded = await startServer(serverOptions(sink.url, { access }))
    expect(await statusOf(begin(open(guarded.grpcPort)))).toBe(status.UNAUTHENTICATED)
    const web = begin(open(guarded.grpcPort), { origin: 'https://evil.example', authorization: 'Bearer a-token' })
    expect(await statusOf(web)).toBe(status.PERMISSION_DENIED)
    const session = open(guarded.grpcPort)
    const allowed = begin(session, { authorization: 'Bearer a-token' })
    allowed.end(framed(Buffer.of()))
    expect(await statusOf(allowed)).toBe(status.OK)
    expect(session.destroyed).toBe(false)
    expect(received(guarded).refused).toEqual({ unauthenticated: 1, forbidden: 1 })
    session.close()
    await guarded.stop()
  })

  it('a connection that resets its calls as soon as it makes them is closed, while others are answered', async () => {
    const session = open()
    await once(session, 'remoteSettings')
    const closed = new Promise((resolve) => session.once('close', resolve))
    for (let count = 0; count < 5000 && !session.destroyed; count++) {
      begin(session).close(constants.NGHTTP2_CANCEL)
      if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await exportEmpty()).toBe(status.OK)
    await closed
  })
})

import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

import { credentials, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import type { RunningServer } from '../src/start.ts'
import { grpcExport } from './grpc-export.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import type { Sink } from './sink.ts'
import { makeRun, post } from './traces.ts'

const MEBIBYTE = 1024 * 1024
const LIMIT = 3 * MEBIBYTE

let sink: Sink
let server: RunningServer
const closing: (() => void)[] = []
beforeAll(async () => {
  sink = await createSink()
  const limits = {
    ...serverOptions('').limits,
    maxBodyBytes: MEBIBYTE,
    maxDecompressedBytes: 2 * MEBIBYTE,
    maxReceivingBytes: LIMIT,
    // No request of these tests is refused because it is slow.
    requestTimeoutMs: 120_000,
  }
  server = await startServer(serverOptions(sink.url, { limits }))
})
afterAll(async () => {
  for (const close of closing) close()
  await server.stop()
  await sink[Symbol.asyncDispose]()
})

interface Received {
  readonly bytesInFlight: number
  readonly refused: Readonly<Record<string, number>>
}

function received(): Received {
  return (server.counts() as { received: Received }).received
}

const unavailable = () => received().refused['unavailable'] ?? 0

/** Sends most of a body, and then stops sending. */
function stall(bytes: number): { readonly socket: Socket; answer: string } {
  const socket = connect(server.httpPort, '127.0.0.1')
  const stalled = { socket, answer: '' }
  socket.on('data', (chunk) => (stalled.answer += chunk.toString()))
  socket.on('error', () => undefined)
  const head = `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-protobuf\r\nContent-Length: ${MEBIBYTE}\r\n\r\n`
  socket.write(head)
  socket.write(Buffer.alloc(bytes))
  closing.push(() => socket.destroy())
  return stalled
}

it('drops the largest requests by HTTP, asks their senders to retry, and serves the others', async () => {
  const before = unavailable()
  const stalled = Array.from({ length: 8 }, (_, index) => stall(900 * 1024 + index))
  await expect.poll(() => unavailable() - before, { timeout: 20_000 }).toBe(5)
  expect(received().bytesInFlight).toBeLessThanOrEqual(LIMIT)
  for (let count = 0; count < 20; count++) expect(await post(server.httpPort, makeRun().requests[0])).toBe(200)
  await expect.poll(() => stalled.filter(({ answer }) => answer !== '').length, { timeout: 20_000 }).toBe(5)
  for (const { answer } of stalled.filter((each) => each.answer !== '')) {
    expect(answer).toMatch(/^HTTP\/1\.1 503/)
    expect(answer).toMatch(/retry-after: 1/i)
  }
  for (const { socket } of stalled) socket.destroy()
  await expect.poll(() => received().bytesInFlight, { timeout: 20_000 }).toBe(0)
})

it('counts the decompressed size of bodies', async () => {
  const before = unavailable()
  const body = gzipSync(Buffer.alloc(2 * MEBIBYTE - 1))
  const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' }
  const send = async () => {
    const response = await fetch(`http://127.0.0.1:${server.httpPort}/v1/traces`, { method: 'POST', headers, body })
    await response.arrayBuffer()
    return response.status
  }
  const statuses = await Promise.all(Array.from({ length: 24 }, send))
  // Zeros are not a valid request, so bodies that are not dropped are decompressed and then refused.
  expect(new Set(statuses)).toEqual(new Set([400, 503]))
  expect(unavailable() - before).toBe(statuses.filter((code) => code === 503).length)
  expect(await post(server.httpPort, makeRun().requests[0])).toBe(200)
  expect(received().bytesInFlight).toBe(0)
})

it('does the same by gRPC, for incomplete messages', async () => {
  const before = unavailable()
  const session = connectHttp2(`http://127.0.0.1:${server.grpcPort}`)
  session.on('error', () => undefined)
  closing.push(() => session.destroy())
  const statuses: number[] = []
  for (let index = 0; index < 8; index++) {
    const stream = session.request({
      ':method': 'POST',
      ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const look = (sent: Record<string, unknown>): void => {
      if (sent['grpc-status'] !== undefined) statuses.push(Number(sent['grpc-status']))
    }
    stream.on('response', look)
    stream.on('trailers', look)
    stream.on('error', () => undefined)
    stream.resume()
    const message = Buffer.alloc(5 + 900 * 1024 + index)
    message.writeUInt32BE(MEBIBYTE, 1)
    stream.write(message)
  }
  await expect.poll(() => statuses.length, { timeout: 20_000 }).toBe(5)
  expect(new Set(statuses)).toEqual(new Set([status.UNAVAILABLE]))
  expect(unavailable() - before).toBe(5)
  expect(received().bytesInFlight).toBeLessThanOrEqual(LIMIT)
  expect(await grpcExport(server.grpcPort, credentials.createInsecure(), Buffer.alloc(0))).toBe(status.OK)
  session.destroy()
  await expect.poll(() => received().bytesInFlight, { timeout: 20_000 }).toBe(0)
})

it('must be able to hold one request of the largest size', async () => {
  const limits = { ...serverOptions('').limits, maxReceivingBytes: MEBIBYTE }
  await expect(startServer(serverOptions(sink.url, { limits }))).rejects.toThrow(/expected receivingMiB of at least/)
})

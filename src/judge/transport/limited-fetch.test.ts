import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'

import { expect, it } from 'vitest'

import { listenOnLoopback } from '../../testing/listen-on-loopback.ts'
import { limitedFetch } from './limited-fetch.ts'

/** Calls a server once. */
async function fetchFrom(listener: RequestListener, init?: RequestInit): Promise<Response> {
  await using server = await listenOnLoopback(createServer(listener), 0)
  return await limitedFetch(`${server.origin}/v1`, init)
}

it('sends method, headers and body, and returns status, headers and body', async () => {
  let seen = ''
  const response = await fetchFrom(
    (request, reply) => {
      seen = `${request.method} ${request.url} ${request.headers.authorization} `
      request.on('data', (chunk) => (seen += String(chunk)))
      request.on('end', () => reply.writeHead(429, { 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'] }).end('Später.'))
    },
    { method: 'POST', headers: { Authorization: 'Bearer x' }, body: 'Größe' },
  )
  expect(seen).toBe('POST /v1 Bearer x Größe')
  expect([response.status, response.headers.get('retry-after'), await response.text()]).toEqual([429, '7', 'Später.'])
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
})

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)('decompresses %s', async (encoding, compress) => {
  const response = await fetchFrom((_, reply) =>
    reply.writeHead(200, { 'content-encoding': encoding }).end(compress('{"a":1}')),
  )
  expect(response.headers.get('content-encoding')).toBeNull()
  expect(await response.json()).toEqual({ a: 1 })
})

it('rejects a body that is no valid gzip, and one that is too large when decompressed', async () => {
  const gzip = { 'content-encoding': 'gzip' }
  await expect(fetchFrom((_, reply) => reply.writeHead(200, gzip).end('no gzip'))).rejects.toThrow(/header/)
  const large = gzipSync('x'.repeat(3_000_000))
  await expect(fetchFrom((_, reply) => reply.writeHead(200, gzip).end(large))).rejects.toThrow('longer than 2097152')
})

it('returns a redirect as it is, and an error with a large body without it', async () => {
  const moved = await fetchFrom((_, reply) => reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end())
  expect([moved.status, moved.headers.get('location')]).toEqual([302, 'http://127.0.0.1:1/'])
  const failed = await fetchFrom((_, reply) => reply.writeHead(500).end('x'.repeat(3_000_000)))
  expect([failed.status, await failed.text()]).toEqual([500, ''])
})

it('ends when its signal aborts, before the head and within the body', async () => {
  for (const begin of [false, true]) {
    const controller = new AbortController()
    const called = fetchFrom(
      (_, reply) => {
        if (begin) reply.write('{')
        setImmediate(() => controller.abort())
      },
      { signal: controller.signal },
    )
    await expect(called).rejects.toThrow(/abort/i)
  }
})

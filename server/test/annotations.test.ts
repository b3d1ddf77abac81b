/** Scores as annotations, with a server that answers as Phoenix does. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import { makeRun, post, toRequest } from './traces.ts'

it('scores are annotations of the agent span too, and wait until Phoenix has taken them', async () => {
  const asked: { readonly authorization: string | undefined; readonly data: readonly Record<string, unknown>[] }[] = []
  const statuses = [503, 200]
  const phoenix = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString())
      asked.push({ authorization: request.headers.authorization, data })
      response.writeHead(statuses.shift() ?? 200).end('{}')
    })
  }).listen(0, '127.0.0.1')
  await once(phoenix, 'listening')
  await using sink = await createSink()
  const url = `http://127.0.0.1:${(phoenix.address() as AddressInfo).port}/`
  const server = await startServer(serverOptions(sink.url, { phoenix: { url, apiKey: 'key', timeoutMs: 5000 } }))
  const run = makeRun({ toolFails: true })
  await post(server.httpPort, toRequest(run.spans))
  await expect
    .poll(() => server.counts(), { timeout: 15_000 })
    .toMatchObject({ outbox: { failures: 1, waiting: 0, refused: 0, acknowledged: 11 } })
  expect(asked[1]).toEqual(asked[0])
  expect(asked[0]?.authorization).toBe('Bearer key')
  expect(asked[0]?.data).toHaveLength(3)
  expect(asked[0]?.data.find(({ name }) => name === 'tool_errors')).toMatchObject({
    span_id: run.agentSpanId,
    annotator_kind: 'CODE',
    result: { score: 1, label: 'fail' },
    identifier: 'spanscore',
    metadata: { 'spanscore.revision': 3 },
  })
  // Each user's feedback is an annotation of its own.
  const runId = `${run.traceId}:${run.agentSpanId}`
  for (const userId of ['ann', 'bob']) {
    expect(await post(server.httpPort, { runId, name: 'thumbs', value: false, userId }, '/v1/feedback')).toBe(200)
  }
  const thumbs = asked.flatMap(({ data }) => data).filter(({ name }) => name === 'thumbs')
  expect(thumbs[0]).toMatchObject({
    span_id: run.agentSpanId,
    annotator_kind: 'HUMAN',
    result: { score: 0, label: 'fail' },
  })
  expect(new Set(thumbs.map(({ identifier }) => identifier)).size).toBe(2)
  await server.stop()
  phoenix.closeAllConnections()
  phoenix.close()
})

it('what Phoenix answers is neither quoted nor followed nor read without end', async () => {
  const elsewhere: string[] = []
  const other = createServer((request, response) => {
    elsewhere.push(request.url ?? '')
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const portOf = (server: typeof other) => (server.address() as AddressInfo).port
  const answers = ['redirect', 'quote', 'endless']
  let sent = 0
  const phoenix = createServer((request, response) => {
    request.resume()
    const answer = answers.shift()
    if (answer === 'redirect') response.writeHead(307, { location: `http://127.0.0.1:${portOf(other)}/stolen` }).end()
    else if (answer === 'quote')
      response.writeHead(500).end('{"input":"my passport"}\n\u001b[2Jspanscore-server: all is well')
    else {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 97))) sent += 65_536
        if (!response.destroyed) response.once('drain', more)
      }
      response.writeHead(200)
      more()
    }
  }).listen(0, '127.0.0.1')
  await once(phoenix, 'listening')
  await using sink = await createSink()
  const lines: string[] = []
  const url = `http://127.0.0.1:${portOf(phoenix)}`
  const server = await startServer(
    serverOptions(sink.url, {
      phoenix: { url, apiKey: 'key', timeoutMs: 5000 },
      report: (line) => lines.push(line),
    }),
  )
  await post(server.httpPort, toRequest(makeRun({ toolFails: true }).spans))
  await expect.poll(() => server.counts(), { timeout: 15_000 }).toMatchObject({ outbox: { failures: 2, waiting: 0 } })
  await server.stop()
  expect(elsewhere).toEqual([])
  expect(lines).toContain('Scores were not acknowledged: Phoenix, HTTP 307')
  expect(lines).toContain('Scores were not acknowledged: Phoenix, HTTP 500')
  expect(lines.join('')).not.toContain('passport')
  expect(sent).toBeLessThan(8 * 1024 * 1024)
  for (const each of [other, phoenix]) {
    each.closeAllConnections()
    each.close()
  }
})

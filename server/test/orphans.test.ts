import { randomBytes } from 'node:crypto'

import { expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import { makeRun, post, toRequest } from './traces.ts'

const orphan = (): unknown => makeRun({ agentSpanId: randomBytes(8).toString('hex') }).spans[0]

it('spans whose parents never come do not take the place of other senders for as long as they would wait', async () => {
  await using sink = await createSink()
  const options = serverOptions(sink.url)
  const traces = { ...options.traces, maxSpans: 1000, orphanMs: 3_600_000, maxAgeMs: 7_200_000 }
  const server = await startServer({ ...options, traces })
  const send = () => post(server.httpPort, toRequest(Array.from({ length: 50 }, orphan), 'careless'))
  let status = 200
  for (let count = 0; count < 30 && status === 200; count++) status = await send()
  expect(status).toBe(503)
  const other = (): Promise<number> => post(server.httpPort, toRequest(makeRun().spans))
  await expect.poll(other, { timeout: 20_000 }).toBe(200)
  await server.stop()
})

/** Destinations that do not take everything, or whose answers are unusual. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

import { expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { makeRun, post, toRequest } from './traces.ts'

/** A service that forwards to a destination, whose answers depend on the path. */
async function startBefore(answer: (path: string, response: ServerResponse) => void) {
  /** The accepted requests by path. */
  const accepted: Record<string, number> = {}
  const destination = createServer((request, response) => {
    const path = request.url ?? ''
    request.resume().once('end', () => {
      answer(path, response)
      if (response.statusCode === 200) accepted[path] = (accepted[path] ?? 0) + 1
    })
  })
  destination.listen(0, '127.0.0.1')
  await once(destination, 'listening')
  const lines: string[] = []
  const server = await startServer(
    serverOptions(`http://127.0.0.1:${(destination.address() as AddressInfo).port}`, {
      forwards: true,
      report: (line) => lines.push(line),
    }),
  )
  return {
    accepted,
    lines,
    server,
    send: async () => expect(await post(server.httpPort, toRequest(makeRun().spans))).toBe(200),
    [Symbol.asyncDispose]: async () => {
      await server.stop(500)
      destination.closeAllConnections()
      destination.close()
    },
  }
}

const endWith = (response: ServerResponse, status: number) => {
  response.statusCode = status
  response.end()
}

it('a destination without log records gets all spans and late spans, and a report says so once', async () => {
  await using bench = await startBefore((path, response) => endWith(response, path === '/v1/traces' ? 200 : 404))
  const { send, server, lines, accepted } = bench
  for (let round = 1; round <= 3; round++) {
    await send()
    expect(await post(server.httpPort, { resourceLogs: [] }, '/v1/logs')).toBe(200)
    await expect.poll(() => server.counts()).toMatchObject({ outbox: { acknowledged: 5 * round, waiting: 0 } })
    await expect
      .poll(() => server.counts())
      .toMatchObject({ forward: { forwarded: round, refused: round, waiting: 0 } })
  }
  expect(accepted).toEqual({ '/v1/traces': 6 })
  expect(lines.filter((line) => line.includes('takes no log records'))).toHaveLength(1)
  expect((await fetch(`http://127.0.0.1:${server.httpPort}/ready`)).status).toBe(200)
})

it.each([404, 301, 521])(
  'a destination that answers %i to everything for a time gets everything afterwards',
  async (status) => {
    let isWrong = true
    await using bench = await startBefore((_path, response) => endWith(response, isWrong ? status : 200))
    const { send, server } = bench
    await send()
    await expect.poll(() => bench.lines).toContain(`A request could not be forwarded: HTTP ${status}.`)
    await expect.poll(() => bench.lines.join('\n')).toContain(`Scores were not acknowledged: HTTP ${status}`)
    expect(server.counts()).toMatchObject({
      outbox: { acknowledged: 0, refused: 0 },
      forward: { waiting: 1, refused: 0 },
    })
    isWrong = false
    await expect
      .poll(() => server.counts(), { timeout: 10_000 })
      .toMatchObject({ outbox: { acknowledged: 8, refused: 0 }, forward: { waiting: 0, forwarded: 1, refused: 0 } })
  },
)

it('a destination that took log records before gets them after it has answered 404 to them', async () => {
  let isWrong = false
  await using bench = await startBefore((path, response) => {
    endWith(response, isWrong && path === '/v1/logs' ? 404 : 200)
  })
  const { send, server } = bench
  await send()
  await expect.poll(() => server.counts()).toMatchObject({ outbox: { acknowledged: 8 } })
  isWrong = true
  await send()
  await expect.poll(() => bench.lines.join('\n')).toContain('Scores were not acknowledged: HTTP 404')
  isWrong = false
  await expect
    .poll(() => server.counts(), { timeout: 10_000 })
    .toMatchObject({ outbox: { acknowledged: 16, refused: 0 } })
})

it('an answer without an end delays nothing, and is not kept', async () => {
  await using bench = await startBefore((path, response) => {
    response.writeHead(200)
    if (path === '/v1/traces') response.write('x'.repeat(1000))
    else response.end()
  })
  for (let count = 1; count <= 3; count++) {
    await bench.send()
    await expect.poll(() => bench.server.counts()).toMatchObject({ forward: { forwarded: count, waiting: 0 } })
  }
})

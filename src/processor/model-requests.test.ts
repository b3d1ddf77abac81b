import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { isolated } from '../scoring/isolation.ts'
import { watchModelRequests } from './model-requests.ts'

const server = createServer((_, response) => response.end('{}'))
let origin = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

/** The hosts that are reported while `work` runs. */
async function hostsSeen(work: () => Promise<unknown>): Promise<readonly string[]> {
  const hosts: string[] = []
  const stop = watchModelRequests(({ host }) => hosts.push(host))
  await work()
  stop()
  return hosts
}

test.each([
  '/v1/chat/completions',
  '/openai/deployments/mine/chat/completions?api-version=2026-01-01',
  '/v1/responses',
  '/v1/messages',
  '/v1beta/models/gemini-3-pro:generateContent',
  '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse',
  '/model/anthropic.claude-sonnet/converse-stream',
])('a request to %s is a model request', async (path) => {
  expect(await hostsSeen(() => fetch(`http://${origin}${path}`, { method: 'POST', body: '{}' }))).toEqual([origin])
})

test.each(['/', '/v1/embeddings', '/api/messages', '/v1/surveys/1/responses', `/${'x'.repeat(3000)}/chat/completions`])(
  'a request to %.40s is not',
  async (path) => {
    expect(await hostsSeen(() => fetch(`http://${origin}${path}`))).toEqual([])
  },
)

test('requests of node:http are observed, too', async () => {
  const hosts = await hostsSeen(async () => {
    const sent = request(`http://${origin}/v1/messages`, { method: 'POST' })
    sent.end()
    const [response] = await once(sent, 'response')
    response.resume()
  })
  expect(hosts).toEqual([origin.split(':')[0]])
})

test('requests of judges are left out, and nothing is reported after the end', async () => {
  expect(await hostsSeen(() => isolated(() => fetch(`http://${origin}/v1/messages`)))).toEqual([])
  const hosts = await hostsSeen(async () => undefined)
  await fetch(`http://${origin}/v1/messages`)
  expect(hosts).toEqual([])
})

test('an error of the callback does not reach the application', async () => {
  const stop = watchModelRequests(() => {
    throw new Error('of the callback')
  })
  await expect(fetch(`http://${origin}/v1/messages`)).resolves.toMatchObject({ status: 200 })
  stop()
})

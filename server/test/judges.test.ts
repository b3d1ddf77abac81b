/** Judges that a file of YAML names, at far ends that look at path, query and header. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { judgeReply } from 'spanscore/testing'
import { afterAll, expect, it } from 'vitest'

import { loadServiceConfig } from '../src/config/load-config.ts'
import { startServer } from '../src/start.ts'
import { eventually, startWithPage } from './page/page-client.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import { makeRun, post, toRequest, until } from './traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-judges-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const REPLY = {
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'no verdict' } }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
}

interface Call {
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly model: unknown
}

/** A server of a model that takes one key. */
async function startModel(isKnown: (headers: Readonly<Record<string, unknown>>) => boolean, reply = REPLY) {
  const calls: Call[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { model } = JSON.parse(Buffer.concat(chunks).toString()) as { model: unknown }
      calls.push({ url: request.url ?? '', headers: request.headers, model })
      const isTaken = isKnown(request.headers)
      response.writeHead(isTaken ? 200 : 401, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isTaken ? reply : { error: { message: 'Access denied.' } }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    calls,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

let files = 0
function file(name: string, text: string): string {
  const path = join(folder, `${(files += 1)}-${name}`)
  writeFileSync(path, text)
  return path
}

const configOf = (model: string) =>
  file(
    'spanscore.yaml',
    `scorers: [{ name: prompt_alignment, model: ${model}, options: { judge: { price: { input: 1, output: 4 } } } }]\n`,
  )

it.each([
  {
    what: 'Azure, with the version in the query and the key in a header of its own',
    model: (origin: string, key: string) =>
      `{ id: azure/mini, url: "${origin}/openai/deployments/mini?api-version=2024-10-21", apiKeyFile: "${key}", apiKeyHeader: api-key }`,
    url: '/openai/deployments/mini/chat/completions?api-version=2024-10-21',
    header: ['api-key', 'one'],
    sent: 'mini',
  },
  {
    what: 'the v1 API of Azure, with a token that a sidecar writes',
    model: (origin: string, key: string) => `{ id: azure/mini, url: "${origin}/openai/v1", apiKeyFile: "${key}" }`,
    url: '/openai/v1/chat/completions',
    header: ['authorization', 'Bearer one'],
    sent: 'mini',
  },
  {
    what: 'Bedrock, in the form of OpenAI',
    model: (origin: string, key: string) =>
      `{ id: bedrock/openai.gpt-oss-20b-1:0, url: "${origin}/openai/v1", apiKeyFile: "${key}" }`,
    url: '/openai/v1/chat/completions',
    header: ['authorization', 'Bearer one'],
    sent: 'openai.gpt-oss-20b-1:0',
  },
  {
    what: 'Vertex, in the form of OpenAI',
    model: (origin: string, key: string) =>
      `{ id: vertex/google/gemini-2.5-flash, url: "${origin}/v1/projects/p/locations/l/endpoints/openapi", apiKeyFile: "${key}" }`,
    url: '/v1/projects/p/locations/l/endpoints/openapi/chat/completions',
    header: ['authorization', 'Bearer one'],
    sent: 'google/gemini-2.5-flash',
  },
  {
    what: 'LiteLLM or vLLM, with a header of a tenant',
    model: (origin: string, key: string) =>
      `{ id: proxy/mini, url: "${origin}/v1", apiKeyFile: "${key}", headers: { x-team: agents } }`,
    url: '/v1/chat/completions',
    header: ['x-team', 'agents'],
    sent: 'mini',
  },
])('asks $what', async ({ model, url, header: [name, value], sent }) => {
  await using far = await startModel(() => true)
  await using sink = await createSink()
  const configPath = configOf(model(far.origin, file('key', 'one\n')))
  const server = await startServer(serverOptions(sink.url, { configPath }))
  await post(server.httpPort, toRequest(makeRun().spans))
  await until(() => far.calls.length > 0, 'a call')
  expect(far.calls[0]).toMatchObject({ url, model: sent, headers: { [String(name)]: value } })
  // A server with a header of its own gets no other one with a key.
  expect('authorization' in (far.calls[0]?.headers ?? {})).toBe(name !== 'api-key')
  await server.stop()
})

it('says once that a judge refuses its key, and asks again with the next key in the file', async () => {
  await using far = await startModel((headers) => headers['authorization'] === 'Bearer two')
  await using sink = await createSink()
  const key = file('key', 'one')
  const configPath = configOf(`{ id: local/mini, url: "${far.origin}/v1", apiKeyFile: "${key}" }`)
  const lines: string[] = []
  const server = await startServer(serverOptions(sink.url, { configPath, report: (line) => lines.push(line) }))
  const ready = async () => (await fetch(`http://127.0.0.1:${server.httpPort}/ready`)).json()
  const send = () => post(server.httpPort, toRequest(makeRun().spans))
  const refusals = () => lines.filter((line) => line.includes('answered 401'))
  await send()
  await until(() => refusals().length === 1, 'a line')
  expect(refusals()[0]).toContain('Check model.apiKeyFile.')
  await send()
  await until(() => (server.counts() as { service: { runs: number } }).service.runs === 2, 'two runs')
  expect(await ready()).toMatchObject({ status: 'ready', judges: [expect.stringContaining('prompt_alignment: ')] })
  writeFileSync(key, 'two')
  await send()
  await until(() => far.calls.some(({ headers }) => headers['authorization'] === 'Bearer two'), 'the next key')
  await until(() => lines.some((line) => line === 'prompt_alignment: its judge is no longer in trouble.'), 'a line')
  expect(await ready()).not.toHaveProperty('judges')
  expect(refusals()).toHaveLength(1)
  await server.stop()
})

it('names a judge without its package in /ready and on the page, with the cure that the log has', async () => {
  const configPath = configOf('xai/grok')
  const lines: string[] = []
  const data = mkdtempSync(join(folder, 'data-'))
  const page = await startWithPage(data, { configPath, report: (line) => lines.push(line) })
  const ready: unknown = await (await fetch(`http://127.0.0.1:${page.server.httpPort}/ready`)).json()
  const [line = ''] = lines.filter((each) => each.startsWith('prompt_alignment: it will give no score. '))
  expect(line).toContain('npm install @ai-sdk/xai')
  expect(ready).toMatchObject({ status: 'ready', judges: [line] })
  const ask = () => page.get<{ readonly judges?: readonly string[] }>('/api/overview')
  expect(await eventually(ask, ({ judges = [] }) => judges.length > 0)).toMatchObject({ judges: [line] })
  await page.server.stop()
})

it('says once that a judge leaves its questions open, time after time', async () => {
  const [choice] = REPLY.choices
  const met = [{ text: 'Names the weather', verdict: 'yes' }]
  const content = judgeReply({
    verdicts: { 'user.intent': '1' },
    lists: { userRequirements: met, systemRequirements: met },
  })
  await using far = await startModel(() => true, {
    ...REPLY,
    choices: [{ ...choice!, message: { role: 'assistant', content } }],
  })
  await using sink = await createSink()
  const configPath = configOf(`{ id: local/mini, url: "${far.origin}/v1" }`)
  const lines: string[] = []
  const server = await startServer(serverOptions(sink.url, { configPath, report: (line) => lines.push(line) }))
  const failures = () => lines.filter((line) => line.includes('in a row'))
  for (let run = 0; run < 7; run++) await post(server.httpPort, toRequest(makeRun().spans))
  await until(() => failures().length > 0, 'a line')
  const ready = await (await fetch(`http://127.0.0.1:${server.httpPort}/ready`)).json()
  const trouble =
    'prompt_alignment: gave no score 5 times in a row (judge-unanswered): mini: it leaves questions open. Use another model.'
  expect(ready).toMatchObject({ status: 'ready', judges: [trouble] })
  expect(failures()).toEqual([trouble])
  await server.stop()
})

it.each([
  ['{ id: a/b, url: nowhere }', 'scorers[0].model.url: expected an http or https URL'],
  ['{ id: a/b, ulr: "http://127.0.0.1" }', 'scorers[0].model: Expected one of id, url, '],
  ['{ url: "http://127.0.0.1" }', 'scorers[0].model.id: expected string, got undefined'],
  ['{ id: a/b, apiKey: secret }', 'apiKeyFile, apiKeyHeader, got apiKey.'],
])('names the place of a wrong model: %s', (model, message) => {
  expect(() => loadServiceConfig(configOf(model), () => undefined)).toThrow(message)
})

it('says at the start that the price of a model is not known', async () => {
  const lines: string[] = []
  const configPath = file(
    'spanscore.yaml',
    'scorers: [{ name: prompt_alignment, model: { id: a/b, url: "http://127.0.0.1:1" } }]',
  )
  const server = await startServer(
    serverOptions('http://127.0.0.1:1', { configPath, report: (line) => lines.push(line) }),
  )
  expect(lines.join('\n')).toContain('prompt_alignment: the price of its model is not known')
  await server.stop(0)
})

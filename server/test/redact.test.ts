import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { TextRedactor } from 'spanscore/engine'
import type { AgentRun } from 'spanscore'
import { afterAll, expect, it } from 'vitest'

import { loadServiceConfig } from '../src/config/load-config.ts'
import { eventually, startWithPage } from './page/page-client.ts'
import { makeRun, post, toRequest } from './traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-redact-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const EMAIL = String.raw`[\w.+-]+@[\w-]+\.[\w.]+`

it('replaces values, and no keys, ids, names or numbers', () => {
  const redactor = new TextRedactor(['ann', '7'])
  const run = {
    id: 'ann:7',
    traceId: 'ann',
    agent: { name: 'ann' },
    output: 'Dear ann',
    startTimeMs: 7,
    toolCalls: [{ toolCallId: '7', name: 'ann', arguments: { name: 'ann', ann: 'ann', count: 7 } }],
    attributes: { 'gen_ai.agent.name': 'ann', 'gen_ai.input.messages': '[{"role":"ann","parts":[{"content":"ann"}]}]' },
  }
  expect(redactor.apply(run)).toEqual({
    ...run,
    output: 'Dear [redacted]',
    toolCalls: [{ toolCallId: '7', name: 'ann', arguments: { name: '[redacted]', ann: '[redacted]', count: 7 } }],
    attributes: {
      'gen_ai.agent.name': 'ann',
      'gen_ai.input.messages': '[{"role":"ann","parts":[{"content":"[redacted]"}]}]',
    },
  })
})

it('redacts one text with one pattern at a time, also inside JSON, up to each match', () => {
  const rows = Array.from({ length: 50 }, (_, index) => ({ note: `row ${index} of ann` }))
  const run = { output: 'Dear ann', toolCalls: [{ result: JSON.stringify({ rows }) }] } as unknown as AgentRun
  const redactor = new TextRedactor(['ann', 'row'])
  const steps = redactor.toOption().inSteps(run)
  let count = 0
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count += 1
  expect(count).toBe(2 * 51 + 51 + 50)
  expect(step.value).toEqual(redactor.apply(run))
})

it('keeps what patterns match from judges, from the page and its files, and out of explanations', async () => {
  const asked: string[] = []
  const model = createServer((request, response) => {
    request.on('data', (chunk) => asked.push(String(chunk))).on('end', () => response.writeHead(400).end())
  })
  model.listen(0, '127.0.0.1')
  await once(model, 'listening')
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
  const configPath = join(folder, 'spanscore.yaml')
  writeFileSync(
    configPath,
    `scorers: [tool_errors, { name: prompt_alignment, model: { id: a/b, url: "${url}" } }]\nredact: ['${EMAIL}']\n`,
  )
  const page = await startWithPage(join(folder, 'data'), { configPath })
  const { spans } = makeRun({ text: 'Write to ann@example.com, please.' })
  expect(await post(page.server.httpPort, toRequest(spans))).toBe(200)
  const { runs } = await eventually(
    () => page.get<{ runs: readonly { readonly id: string }[] }>('/api/runs'),
    (listed) => listed.runs.length === 1,
  )
  const shown = JSON.stringify(await page.get(`/api/run?id=${runs[0]?.id}`))
  expect(shown).toContain('Write to [redacted], please.')
  expect(shown).not.toContain('ann@example.com')
  await expect.poll(() => asked.join('')).toContain('[redacted]')
  expect(asked.join('')).not.toContain('ann@example.com')
  await page.server.stop()
  model.closeAllConnections()
  model.close()
  const files = readdirSync(join(folder, 'data')).filter((name) => name.startsWith('page.db'))
  for (const name of files) expect(readFileSync(join(folder, 'data', name), 'latin1')).not.toContain('ann@example.com')
})

it('does not start with a pattern that does not compile, and names its place', () => {
  const path = join(folder, 'wrong.yaml')
  writeFileSync(path, "scorers: [loop]\nredact: ['ok', '(']\n")
  expect(() => loadServiceConfig(path, () => undefined)).toThrow(
    /wrong\.yaml: redact\[1\]: expected a pattern in the syntax of RE2, got \(/,
  )
})

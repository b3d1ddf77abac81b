/** Configurations that change while the service runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createScriptedOpenAIServer, judgeReply } from 'spanscore/testing'
import { afterAll, expect, it, vi } from 'vitest'

import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import type { Sink } from './sink.ts'
import { makeRun, post, until } from './traces.ts'
import type { MadeRun } from './traces.ts'

const folder = mkdtempSync(join(tmpdir(), 'spanscore-changed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(sink: Sink, text: string) {
  const configPath = join(folder, `${Math.random()}.yaml`)
  writeFileSync(configPath, text)
  const lines: string[] = []
  const server = await startServer(serverOptions(sink.url, { configPath, report: (line) => lines.push(line) }))
  return {
    lines,
    server,
    write: (next: string) => writeFileSync(configPath, next),
    send: async (run = makeRun()): Promise<MadeRun> => {
      for (const request of run.requests) await post(server.httpPort, request)
      return run
    },
    ready: async () => (await fetch(`http://127.0.0.1:${server.httpPort}/ready`)).json(),
    [Symbol.asyncDispose]: () => server.stop(),
  }
}

const scorersOf = (sink: Sink, { traceId }: MadeRun) =>
  sink.logs
    .filter((log) => log.traceId === traceId)
    .map(({ attributes }) => attributes['gen_ai.evaluation.name'])
    .toSorted()

it('a changed file takes effect for new runs, a bad one is named and changes nothing, and a good one replaces it', async () => {
  await using sink = await createSink()
  await using service = await start(sink, 'scorers: [loop]')
  const first = await service.send()
  await until(() => scorersOf(sink, first).length === 1, 'the first scores', 30_000)

  service.write('scorers: [loop, tool_errors]')
  await until(
    () => service.lines.some((line) => line.startsWith('Scores with loop, tool_errors')),
    'the change',
    30_000,
  )
  const second = await service.send()
  await until(() => scorersOf(sink, second).length === 2, 'the second scores', 30_000)
  expect(scorersOf(sink, first)).toEqual(['loop'])

  service.write('scorers: [lop]')
  await until(() => service.lines.some((line) => line.includes('cannot be used')), 'the refusal', 30_000)
  expect(await service.ready()).toEqual({
    status: 'ready',
    configuration: expect.stringContaining('Did you mean loop?'),
    version: expect.any(String),
  })
  const third = await service.send()
  await until(() => scorersOf(sink, third).length === 2, 'the third scores', 30_000)

  service.write('scorers: [tool_errors]')
  await until(
    () => service.lines.some((line) => line.startsWith('Scores with tool_errors')),
    'the second change',
    30_000,
  )
  expect(await service.ready()).toEqual({ status: 'ready', version: expect.any(String) })
  const fourth = await service.send()
  await until(() => scorersOf(sink, fourth).length === 1, 'the fourth scores', 30_000)
  expect(scorersOf(sink, fourth)).toEqual(['tool_errors'])
})

/** A configuration with one judge, which may be asked once a minute. */
const asking = (question: string) => `scorers:
  - name: rubric
    model: openai/gpt-5-mini
    options: { criteria: [{ id: polite, question: '${question}' }] }
budget: { callsPerMinute: 1 }
`

it('a judge that is asked while the file changes gives its score, and its call counts against the new budget', async () => {
  const answers = Promise.withResolvers<void>()
  const judge = await createScriptedOpenAIServer(async () => {
    await answers.promise
    return judgeReply({ verdicts: { polite: 'pass' } })
  })
  vi.stubEnv('OPENAI_API_KEY', 'scripted')
  vi.stubEnv('OPENAI_BASE_URL', judge.url)
  try {
    await using sink = await createSink()
    await using service = await start(sink, asking('Is the answer polite?'))
    const first = await service.send()
    await until(() => judge.requests.length === 1, 'the question', 30_000)
    service.write(asking('Is it a kind answer?'))
    await until(() => service.lines.filter((line) => line.startsWith('Scores with')).length === 2, 'the change', 30_000)
    await service.send()
    await expect
      .poll(() => service.server.counts(), { timeout: 30_000 })
      .toMatchObject({ ledger: { scorers: { rubric: { skipped: 1 } } } })
    answers.resolve()
    await until(() => scorersOf(sink, first).length === 1, 'the score of the first judge', 30_000)
    expect(judge.requests).toHaveLength(1)
  } finally {
    vi.unstubAllEnvs()
    answers.resolve()
    await judge.close()
  }
})

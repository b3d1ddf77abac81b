/** From a bad answer to a gate: an agent of the AI SDK, the service with its page, and the command line. Only the model is scripted. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { createOpenAI } from '@ai-sdk/openai'
import { OpenTelemetry } from '@ai-sdk/otel'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer'
import { BatchSpanProcessor, InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { registerTelemetry, tool, ToolLoopAgent } from 'ai'
import { createToolCallAccuracyScorerCode } from 'spanscore/scorers/code'
import { createScriptedOpenAIServer, testCases } from 'spanscore/testing'
import type { AgentCase, ScriptedOpenAIServer } from 'spanscore/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'

import { runCommand } from '../../test/fixtures/run-command.ts'
import { eventually, startWithPage } from './page/page-client.ts'
import type { PageUnderTest } from './page/page-client.ts'

const QUESTION = 'Is it warm in Paris today?'

let folder: string
let page: PageUnderTest
let model: ScriptedOpenAIServer
let provider: TracerProvider
const spans = new InMemorySpanExporter()
/** Whether the model uses its tool, as its instructions tell it after the fix. */
let isFixed = false

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-story-'))
  writeFileSync(
    at('spanscore.config.ts'),
    `import { createToolCallAccuracyScorerCode } from '${resolve('src/entries/scorers.ts')}'\n` +
      "export default { scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'weather' })] }\n",
  )
  page = await startWithPage(folder, { configPath: at('spanscore.config.ts') })
  model = await createScriptedOpenAIServer(({ toolResults }) => {
    if (!isFixed) return 'Yes, Paris usually is lovely at this time of the year.'
    return toolResults.length > 0
      ? 'No, it is 4 °C in Paris.'
      : { toolCalls: [{ name: 'weather', arguments: { city: 'Paris' } }] }
  })
  provider = new TracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor({ exporter: spans }),
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `http://127.0.0.1:${page.server.httpPort}/v1/traces` }),
      }),
    ],
  })
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(provider)
  registerTelemetry(new OpenTelemetry())
}, 60_000)
afterAll(async () => {
  await provider.shutdown()
  await Promise.all([model.close(), page.server.stop()])
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

const at = (name: string): string => join(folder, name)

function createAgent() {
  const openai = createOpenAI({ baseURL: model.url, apiKey: 'scripted' })
  const weather = tool({ inputSchema: z.object({ city: z.string() }), execute: () => ({ celsius: 4 }) })
  return new ToolLoopAgent({
    model: openai('gpt-5-mini'),
    tools: { weather },
    telemetry: { functionId: 'weather-agent' },
  })
}

/** Answers a request as a server does. @returns what the user's browser gets, with the ids of the request */
async function answer(prompt: string) {
  return trace.getTracer('server').startActiveSpan('POST /chat', async (request) => {
    const { text } = await createAgent().generate({ prompt })
    request.end()
    const { traceId, spanId } = request.spanContext()
    return { text, traceId, spanId }
  })
}

/** Writes the spans so far, as a Collector's file exporter does. */
async function writeTraces(name: string): Promise<string> {
  await provider.forceFlush()
  const request = JsonTraceSerializer.serializeRequest(spans.getFinishedSpans())
  writeFileSync(at(name), `${new TextDecoder().decode(request)}\n`)
  spans.reset()
  return at(name)
}

interface Details {
  readonly said: readonly { readonly scorerId: string; readonly label?: string; readonly explanation?: string }[]
  readonly scores: readonly { readonly evaluation: { readonly score: { readonly label?: string } } }[]
}

/** The only run of a trace, as the page shows it once it is scored. */
async function shown(traceId: string) {
  const { runs } = await eventually(
    () => page.get<{ runs: readonly { readonly id: string }[] }>('/api/runs'),
    (found) => found.runs.some(({ id }) => id.startsWith(traceId)),
  )
  const { id } = runs.find((run) => run.id.startsWith(traceId))!
  return { id, details: () => page.get<Details>(`/api/run?id=${encodeURIComponent(id)}`) }
}

const score = (...argv: readonly string[]) => runCommand(['score', ...argv, '--config', at('spanscore.config.ts')])

it('a bad answer becomes a case, and the gate is green after the fix', { timeout: 60_000 }, async () => {
  // A bad answer.
  const bad = await answer(QUESTION)
  const before = await writeTraces('before.jsonl')

  // A thumb down, which the backend of the application passes on with the ids of its request.
  const feedback = await fetch(`http://127.0.0.1:${page.server.httpPort}/v1/feedback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      traceId: bad.traceId,
      spanId: bad.spanId,
      name: 'thumbs',
      value: false,
      comment: 'I am freezing.',
    }),
  })
  expect(feedback.status).toBe(200)

  // The run on the page.
  const run = await shown(bad.traceId)
  const { said, scores } = await eventually(run.details, (found) => found.said.length > 0 && found.scores.length > 0)
  expect(said).toMatchObject([{ scorerId: 'thumbs', label: 'fail', explanation: 'I am freezing.' }])
  expect(scores[0]?.evaluation.score.label).toBe('fail')

  // A case, from the page's runs.
  const exported = await fetch(new URL('/api/labels/runs?scorer=tool_call_accuracy', page.origin), {
    headers: { authorization: `Bearer ${page.token}` },
  })
  writeFileSync(at('runs.jsonl'), await exported.text())
  const cases = at('cases.jsonl')
  expect((await runCommand(['cases', at('runs.jsonl'), '--out', cases])).code).toBe(0)
  const [found] = readFileSync(cases, 'utf8').trim().split('\n')
  const one: AgentCase = JSON.parse(found!)
  expect(one).toMatchObject({ input: QUESTION, answered: bad.text, called: [], runId: run.id })
  expect(one.wrong.map(({ scorer }) => scorer).toSorted()).toEqual(['thumbs', 'tool_call_accuracy'])
  writeFileSync(cases, `${JSON.stringify({ ...one, expected: { mentions: '4 °C', trajectory: ['weather'] } })}\n`)

  // The gate is red for the answer that was bad.
  const red = await score(before, '--cases', cases)
  expect(red.code).toBe(1)
  expect(red.stdout).toContain(`✗ case ${one.id} "${QUESTION}": tool_call_accuracy 0`)
  const baseline = at('baseline.json')
  writeFileSync(baseline, (await score(before, '--json')).stdout)

  // A fix: the agent passes in the tests, and the gate is green for new traces.
  isFixed = true
  const tests: (() => Promise<void>)[] = []
  testCases(cases, {
    test: (_name, test) => tests.push(test),
    agent: ({ messages }) => createAgent().generate({ messages: [...messages] }),
    scorers: [createToolCallAccuracyScorerCode({ expectedTool: 'weather' })],
  })
  expect(tests).toHaveLength(1)
  await tests[0]!()
  spans.reset()
  const good = await answer(QUESTION)
  const after = await writeTraces('after.jsonl')
  const green = await score(after, '--cases', cases, '--baseline', baseline, '--fail-on', 'new-failures')
  expect(green.stdout).toContain(`✓ case ${one.id} "${QUESTION}": passes in 1 run`)
  expect(green.code).toBe(0)

  // The score of the same question after the change.
  expect(green.stdout).toMatch(
    /Compared with the baseline\n {2}tool_call_accuracy {2}\+1 \(95 %: .*\) over 1 pair\n.*1 fixed/,
  )
  const fixed = await eventually((await shown(good.traceId)).details, (details) => details.scores.length > 0)
  expect(fixed.scores[0]?.evaluation.score.label).toBe('pass')
})

/** `spanscore mcp --from`: what coding agents get of traces that Jaeger has stored. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { at, eventually, freePort, program } from '../../scripts/stack.ts'
import { chatRequests } from '../fixtures/chat.ts'
import { startMcp } from '../fixtures/mcp-client.ts'

let query: string
let stop: () => Promise<void>

const messages = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
const text = (key: string, value: string) => ({ key, value: { stringValue: value } })

beforeAll(async () => {
  const [otlp, ui, grpc] = await Promise.all([freePort(), freePort(), freePort()])
  const child = spawn(program('jaeger'), ['--config', join(import.meta.dirname, 'tools/jaeger-alone.yaml')], {
    env: { ...process.env, JAEGER_OTLP_LISTEN: at(otlp), JAEGER_UI_LISTEN: at(ui), JAEGER_GRPC_LISTEN: at(grpc) },
    stdio: 'ignore',
  })
  query = at(ui)
  stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await eventually('Jaeger is ready', async () => (await fetch(`http://${query}/api/v3/services`)).ok)
  const send = async (body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`http://${at(otlp)}/v1/traces`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`expected Jaeger to take runs, got ${response.status}`)
  }
  await send({
    resourceSpans: [
      {
        resource: { attributes: [text('service.name', 'support')] },
        scopeSpans: [
          { scope: { name: 'agents' }, spans: Array.from({ length: 80 }, (_, index) => runAt(index)).flat() },
        ],
      },
    ],
  })
  for (const request of chatRequests(
    [
      { user: 'Hi', answer: 'Hello.' },
      { user: 'Bye', answer: 'Bye.' },
    ],
    { id: 'short', startMs: Date.now() - 3_600_000 },
  ))
    await send(request)
  await eventually('the runs are stored', async () =>
    /support/.test(await (await fetch(`http://${query}/api/v3/services`)).text()),
  )
})

afterAll(() => stop())

/** A run of some time ago, with the score that its application wrote on it. Those of version 2 fail, with a tool that fails. */
function runAt(index: number): readonly unknown[] {
  const [traceId, spanId] = [(index + 1).toString(16).padStart(32, 'a'), (index + 1).toString(16).padStart(16, 'b')]
  const startMs = Date.now() - 7_200_000 + index * 30_000
  const isNew = index >= 40
  const span = (id: string, name: string, attributes: readonly unknown[], fails = false) => ({
    traceId,
    spanId: id,
    ...(id !== spanId && { parentSpanId: spanId }),
    name,
    kind: 1,
    startTimeUnixNano: `${startMs}000000`,
    endTimeUnixNano: `${startMs + 500}000000`,
    attributes,
    status: fails ? { code: 2, message: 'no answer' } : {},
  })
  return [
    span(spanId, 'invoke_agent support', [
      text('gen_ai.operation.name', 'invoke_agent'),
      text('gen_ai.agent.name', 'support'),
      text('gen_ai.agent.version', isNew ? '2' : '1'),
      text('gen_ai.input.messages', messages('user', `Question ${index}`)),
      text('gen_ai.output.messages', messages('assistant', 'An answer.')),
      text('spanscore.helpful.label', isNew && index % 4 > 0 ? 'fail' : 'pass'),
      { key: 'spanscore.helpful.score', value: { doubleValue: isNew && index % 4 > 0 ? 0 : 1 } },
    ]),
    span(
      (index + 1).toString(16).padStart(16, 'c'),
      'execute_tool search',
      [text('gen_ai.operation.name', 'execute_tool'), text('gen_ai.tool.name', 'search')],
      isNew && index % 4 > 0,
    ),
  ]
}

it('answers each tool from stored traces', async () => {
  await using mcp = await startMcp(['--from', `jaeger://${query}`, '--since', '24h'])
  await mcp.ready()
  expect((await mcp.call('now')).fields.rows).toMatchObject([
    { agent: 'support', runs: 80, cells: [{ scorer: 'helpful', runs: 80, fails: 38 }] },
    { agent: 'clerk' },
  ])
  const why = await mcp.call('why', { scorer: 'helpful' })
  expect(why.fields.common[0]).toMatchObject({ trait: 'agent version = 2', failing: 30, rate: 75, rateWithout: 0 })
  const runs = await mcp.call('runs', { scorer: 'helpful', label: 'fail' })
  expect(runs.fields.total).toBe(30)
  const run = await mcp.call('run', { id: runs.fields.runs[0].id })
  expect(run.fields).toMatchObject({
    version: '2',
    scores: [{ scorer: 'helpful', label: 'fail' }],
    calls: [{ tool: 'search', contentError: 'no answer' }],
  })
  expect((await mcp.call('compare')).text).toBe(
    '"2" against "1": surely more runs fail by "helpful"; surely fewer by none.',
  )
  expect((await mcp.call('scorers')).fields.scorers).toMatchObject([{ scorer: 'helpful', better: 'higher' }])
  const [{ key }] = (await mcp.call('conversation')).fields.conversations
  expect((await mcp.call('conversation', { key })).fields.turns).toMatchObject([
    { contentUser: 'Hi' },
    { contentUser: 'Bye' },
  ])
  expect((await mcp.call('doctor')).fields).toMatchObject({ source: [`jaeger://${query}`], runs: 82 })
})

it('says that the backend is gone, and lives', async () => {
  await stop()
  await using mcp = await startMcp(['--from', `jaeger://${query}`])
  // It is tried for a minute, in which a backend can be restarted.
  await eventually(
    'it says so',
    async () => (await mcp.call('now')).text.includes('The runs could not be read: --from'),
    120_000,
  )
  expect((await mcp.client.listTools()).tools).toHaveLength(8)
})

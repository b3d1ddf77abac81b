/** Scores of traces that Jaeger has stored. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { createSink } from '../../server/test/sink.ts'
import type { Sink } from '../../server/test/sink.ts'
import type { SourceLog, SourceSpan } from '../../src/spans/source-span.ts'
import { at, eventually, freePort, program } from '../../scripts/stack.ts'

const RUNS = Number(process.env['RUNS'] ?? 20_000)
const SCORERS = ['answer_present', 'tool_errors']
const HOUR_MS = 3_600_000

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'spanscore-backfill-'))
const config = join(folder, 'spanscore.config.mjs')
let jaeger: { readonly otlp: string; readonly query: string; close(): Promise<void> }

// A busy machine may take long for them.
const TIMEOUT_MS = 900_000

beforeAll(async () => {
  writeFileSync(
    config,
    `import { createAnswerPresentScorer, createToolErrorsScorer } from '${root}/dist/entries/scorers.js'
export default { scorers: [createAnswerPresentScorer(), createToolErrorsScorer()] }\n`,
  )
  jaeger = await startJaeger()
  const nowMs = Date.now()
  for (let first = 0; first < RUNS; first += 500) {
    const spans = Array.from({ length: Math.min(500, RUNS - first) }, (_, index) => runAt(first + index, nowMs)).flat()
    const resource = { attributes: [text('service.name', 'support')] }
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'agents' }, spans }] }] })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${jaeger.otlp}/v1/traces`, { method: 'POST', headers, body })
    if (!response.ok) throw new Error(`expected Jaeger to take runs, got ${response.status}: ${await response.text()}`)
  }
}, TIMEOUT_MS)

afterAll(async () => {
  await jaeger.close()
  rmSync(folder, { recursive: true, force: true })
})

async function startJaeger() {
  const [otlp, query, grpc] = await Promise.all([freePort(), freePort(), freePort()])
  const child = spawn(program('jaeger'), ['--config', join(import.meta.dirname, 'tools/jaeger-alone.yaml')], {
    env: { ...process.env, JAEGER_OTLP_LISTEN: at(otlp), JAEGER_UI_LISTEN: at(query), JAEGER_GRPC_LISTEN: at(grpc) },
    stdio: 'ignore',
  })
  await eventually('Jaeger is ready', async () => (await fetch(`http://${at(query)}/api/v3/services`)).ok)
  return {
    otlp: `http://${at(otlp)}`,
    query: at(query),
    close: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const text = (key: string, value: string) => ({ key, value: { stringValue: value } })
const hex = (name: string, digits: number) => createHash('sha256').update(name).digest('hex').slice(0, digits)
const says = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** The spans of one run of the last day. Half of all runs are in one busy minute; in every tenth one a tool fails. */
function runAt(index: number, nowMs: number): readonly unknown[] {
  const agoMs = index % 2 === 0 ? 6 * HOUR_MS + (index * 60_000) / RUNS : HOUR_MS + (index * 22 * HOUR_MS) / RUNS
  const traceId = hex(`trace ${index}`, 32)
  const agentId = hex(`agent ${index}`, 16)
  const span = (name: string, attributes: readonly unknown[], failed = false) => ({
    traceId,
    spanId: name.startsWith('invoke') ? agentId : hex(`${name} ${index}`, 16),
    ...(!name.startsWith('invoke') && { parentSpanId: agentId }),
    name,
    kind: 1,
    startTimeUnixNano: `${Math.round(nowMs - agoMs)}000000`,
    endTimeUnixNano: `${Math.round(nowMs - agoMs + 500)}000000`,
    attributes,
    status: failed ? { code: 2 } : {},
  })
  return [
    span('invoke_agent support', [
      text('gen_ai.operation.name', 'invoke_agent'),
      text('gen_ai.agent.name', 'support'),
      text('gen_ai.input.messages', says('user', `Question ${index}`)),
      text('gen_ai.output.messages', says('assistant', `Answer ${index}`)),
    ]),
    span('chat gpt', [text('gen_ai.operation.name', 'chat'), text('gen_ai.request.model', 'gpt')]),
    span(
      'execute_tool search',
      [text('gen_ai.operation.name', 'execute_tool'), text('gen_ai.tool.name', 'search')],
      index % 10 === 0,
    ),
  ]
}

/** Starts a backfill in a process of its own. */
function backfill(to: string, more: readonly string[] = []) {
  const args = [
    'score',
    '--from',
    `jaeger://${jaeger.query}`,
    '--since',
    '24h',
    '--config',
    config,
    '--to',
    to,
    ...more,
  ]
  const child = spawn(process.execPath, [join(root, 'cli/dist/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'exit')
  const finished = async (): Promise<string> => {
    const [code] = await ended
    if (code !== 0) throw new Error(`expected the backfill to end with 0, it ended with ${String(code)}: ${output}`)
    return output
  }
  return { child, ended, finished }
}

async function sent(sink: Sink, scores: number): Promise<void> {
  await eventually(`${scores} scores`, async () => sink.spans.length >= scores, TIMEOUT_MS)
}

it(
  'scores each stored run, through two kills: each score once or again with equal content, and none is missing',
  async () => {
    await using sink = await createSink()
    const resume = ['--resume', join(folder, 'resume.json')]
    for (const share of [0.3, 0.7]) {
      const killed = backfill(sink.url, resume)
      await sent(sink, share * RUNS * SCORERS.length)
      killed.child.kill('SIGKILL')
      await killed.ended
    }
    await backfill(sink.url, resume).finished()

    const sentRecords: readonly (readonly (SourceSpan | SourceLog)[])[] = [sink.spans, sink.logs]
    for (const records of sentRecords) {
      const byId = Map.groupBy(records, ({ attributes }) => attributes['spanscore.score.id'])
      expect(byId.size).toBe(RUNS * SCORERS.length)
      for (const same of byId.values()) expect(new Set(same.map((each) => JSON.stringify(each))).size).toBe(1)
      const runs = Map.groupBy(records, ({ attributes }) => attributes['gen_ai.evaluation.name'])
      for (const id of SCORERS) expect(new Set(runs.get(id)?.map(({ traceId }) => traceId)).size).toBe(RUNS)
    }
    const failed = sink.logs.filter(({ attributes }) => attributes['gen_ai.evaluation.score.label'] === 'fail')
    expect(new Set(failed.map(({ traceId }) => traceId)).size).toBe(RUNS / 10)
  },
  TIMEOUT_MS,
)

it(
  'sends to Jaeger itself what it lacks: late spans without events, and nothing the second time',
  async () => {
    const all = `${(RUNS * SCORERS.length).toLocaleString('en')} scores`
    const first = await backfill(jaeger.otlp).finished()
    expect(first).toMatch(/takes no log records/)
    expect(first).toContain(`${all} sent.`)
    expect(await backfill(jaeger.otlp).finished()).toContain(`0 scores sent; ${all} were there already.`)
  },
  TIMEOUT_MS,
)

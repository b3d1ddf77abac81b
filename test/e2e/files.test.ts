/** Files as a real Collector writes them, and documents as a real Jaeger gives them, hold the runs that were sent. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentRun } from 'spanscore/runs'
import { readRuns } from 'spanscore/runs'
import type { OtlpInput, OtlpSummary } from 'spanscore/runs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { loadLibrary } from '../corpus/load.ts'
import type { Scenario } from '../corpus/load.ts'
import { eventually } from '../../scripts/stack.ts'
import { startStack } from './stack.ts'
import type { Stack } from './stack.ts'

/** Recordings of several languages and dialects; those of two libraries hold their messages in log records and span events. */
const scenarios = [
  'ai-6.0.326',
  'ai-7.0.173-otel',
  'mastra-core-1.71.0-native',
  'openinference-langgraph-4.1.1',
  'otel-instrumentation-openai-0.22.0',
  'pydantic-ai-2.68.0-v2',
  'python-langfuse-langchain-5.0.4',
  'sentry-10.78.0',
  'strands-agents-legacy-1.19.0',
].flatMap((library) => loadLibrary(library).slice(0, 5))

const files = mkdtempSync(join(tmpdir(), 'spanscore-files-'))
let stack: Stack
let sent: readonly AgentRun[]
let spans = 0

const toInput = (documents: readonly unknown[]): OtlpInput => ({
  name: 'sent',
  bytes: ReadableStream.from(documents.map((document) => Buffer.from(`${JSON.stringify(document)}\n`))),
})

async function read(input: OtlpInput | readonly OtlpInput[]): Promise<{ runs: AgentRun[]; summary: OtlpSummary }> {
  let summary: OtlpSummary | undefined
  const runs: AgentRun[] = []
  for await (const run of readRuns(input, { onRead: (found) => (summary = found) })) runs.push(run)
  if (summary === undefined) throw new Error('expected the input to be read')
  return { runs, summary }
}

/** Traces of one start come in any order. */
const asJson = (runs: readonly AgentRun[]): unknown =>
  runs
    .map((run): AgentRun => JSON.parse(JSON.stringify(run)))
    .toSorted((left, right) => left.startTimeMs - right.startTimeMs || (left.id < right.id ? -1 : 1))

/** Jaeger keeps microseconds, gives a name to services that have none, and does not distinguish a list from its JSON text. */
const asJaegerKeepsThem = (runs: readonly AgentRun[]): unknown =>
  JSON.parse(JSON.stringify(asJson(runs)), (key, value: unknown) => {
    if (key.endsWith('TimeMs')) return Math.round(Number(value))
    if (key === 'service.name' && value === 'missing-service-name') return undefined
    return typeof value === 'string' && /^\["[^{]*\]$/.test(value) ? JSON.parse(value) : value
  })

const documentsOf = ({ traces, logs }: Scenario): unknown[] => (logs === undefined ? [traces] : [traces, logs])

async function post(path: string, body: unknown): Promise<void> {
  const response = await fetch(`${stack.otlpUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`the Collector answered ${response.status}: ${await response.text()}`)
}

beforeAll(async () => {
  process.env['SPANSCORE_TEST_FILES'] = files
  stack = await startStack({ overlays: ['../test/e2e/tools/file-exporters.yaml'] })
  for (const { traces, logs } of scenarios) {
    await post('/v1/traces', traces)
    if (logs !== undefined) await post('/v1/logs', logs)
  }
  const { runs, summary } = await read(toInput(scenarios.flatMap(documentsOf)))
  sent = runs
  spans = summary.spans
}, 120_000)

afterAll(async () => {
  await stack.close()
  rmSync(files, { recursive: true })
})

describe('files of the Collector', () => {
  it.each(['otlp.jsonl', 'otlp.pb', 'otlp.jsonl.records.zst', 'otlp.pb.records.zst'])(
    '%s gives the runs that were sent',
    async (name) => {
      expect(readdirSync(files)).toContain(name)
      const { runs } = await eventually('all spans are in the file', async () => {
        const found = await read(join(files, name))
        return found.summary.spans === spans && found
      })
      expect(sent.length).toBeGreaterThan(scenarios.length / 2)
      expect(asJson(runs)).toEqual(asJson(sent))
    },
  )
})

describe('documents of Jaeger', () => {
  // Jaeger keeps no log records.
  const traced = scenarios.filter(({ logs }) => logs === undefined)

  it.each([
    ['what its page downloads', '/api/traces/'],
    ['its API version 3', '/api/v3/traces/'],
  ])('%s gives the runs that were sent', async (_, path) => {
    const expected = await read(toInput(traced.map(({ traces }) => traces)))
    const traceIds = new Set(
      [...JSON.stringify(traced.map(({ traces }) => traces)).matchAll(/"traceId":"([0-9a-f]{32})"/g)].map(
        ([, traceId = '']) => traceId,
      ),
    )
    const { runs } = await eventually('all spans are in Jaeger', async () => {
      const documents: unknown[] = []
      for (const traceId of traceIds) {
        const response = await fetch(`${stack.jaegerUrl}${path}${traceId}`)
        if (!response.ok) return undefined
        documents.push(await response.json())
      }
      const found = await read(toInput(documents))
      return found.summary.spans === expected.summary.spans && found
    })
    expect(asJaegerKeepsThem(runs)).toEqual(asJaegerKeepsThem(expected.runs))
  })
})

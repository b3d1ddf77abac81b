import { mkdtempSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { Ingest } from '../../src/page/ingest.ts'
import { readRun } from '../../src/page/run-page.ts'
import { openPageDatabase } from '../../src/page/store/page-database.ts'
import { deleteOldest } from '../../src/page/store/forgetting.ts'
import { RequestReader } from '../../src/receive/read-request.ts'
import { makeRun, toRequest } from '../traces.ts'
import type { MadeRun } from '../traces.ts'

const KIBIBYTE = 1024
const traceId = 'abcd'.repeat(8)

let folder: string
let database: DatabaseSync
let reader: RequestReader
let ingest: Ingest
let nowMs = 0

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-trace-'))
  database = openPageDatabase(folder)
  reader = await RequestReader.create({ maxSpansPerRequest: 20_000, maxSpanBytes: 1024 * KIBIBYTE })
  ingest = new Ingest(database, reader, () => nowMs, { maxOpenBytes: 9600 * KIBIBYTE, maxReadBytes: 1600 * KIBIBYTE })
})
afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

function arrive(spans: readonly unknown[]): void {
  const body = Buffer.from(JSON.stringify(toRequest(spans)))
  ingest.take({ kind: 'record', signal: 'traces', encoding: 'json', contentEncoding: '', body })
}

/** A run whose spans arrive and are settled, as the service reports it. */
function settle({ spans, traceId: trace, agentSpanId }: MadeRun): string {
  arrive(spans)
  return settled(trace, agentSpanId, spans)
}

function settled(trace: string, agentSpanId: string, spans: readonly unknown[]): string {
  const id = `${trace}:${agentSpanId}`
  const spanIds = spans.map(spanIdOf)
  ingest.take({ kind: 'settled', traceId: trace, spanIds, lacksSpans: false, revisions: { [id]: spans.length } })
  return id
}

function spanIdOf(span: unknown): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a span of `makeRun`
  return (span as { readonly spanId: string }).spanId
}

function rowsOf(table: string): number {
  return Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])
}

describe('many runs in one trace, as of a caller that repeats its traceparent', () => {
  it('are read one by one', () => {
    let id = ''
    for (let index = 0; index < 100; index++) id = settle(makeRun({ traceId }))
    expect(ingest.contentOf(id).spans).toHaveLength(3)
    expect(readRun({ database, runs: ingest }, id, '')).toMatchObject({ spans: { length: 3 } })
  })

  it('are deleted one by one with their content', () => {
    for (nowMs = 0; nowMs < 10_000; nowMs += 1000) settle(makeRun({ traceId }))
    expect([rowsOf('runs'), rowsOf('content'), rowsOf('stored')]).toEqual([10, 10, 30])
    expect(deleteOldest(database, { maxAgeMs: 5000, maxBytes: 1e12 }, nowMs)).toBe(5)
    expect([rowsOf('runs'), rowsOf('content'), rowsOf('stored')]).toEqual([5, 5, 15])
  })

  it('do not keep the spans of each other in progress', () => {
    // The trace is never without a span in progress.
    arrive(makeRun({ traceId }).spans)
    const text = 'x'.repeat(100 * KIBIBYTE)
    for (let index = 0; index < 100; index++) settle(makeRun({ traceId, text }))
    expect(rowsOf('runs')).toBe(100)
    expect([ingest.openCount, ingest.dropped]).toEqual([1, 0])
  })
})

describe('a run that is larger than what is read of one', () => {
  const text = 'x'.repeat(150 * KIBIBYTE)
  const large = (): MadeRun => {
    const run = makeRun({ traceId, text })
    const chats = Array.from({ length: 20 }, () => makeRun({ traceId, agentSpanId: run.agentSpanId, text }).spans[0])
    return { ...run, spans: [...chats, ...run.spans] }
  }

  it('is shown as far as it is read, and as incomplete', () => {
    const id = settle(large())
    const { spans, isCut } = ingest.contentOf(id)
    expect(isCut).toBe(true)
    expect(JSON.stringify(spans).length).toBeLessThan(1700 * KIBIBYTE)
    expect(readRun({ database, runs: ingest }, id, '')).toMatchObject({ run: { id, complete: false } })
  })

  it('is shown in the same way while it is in progress', () => {
    const { spans } = large()
    for (const span of spans) arrive([span])
    expect(ingest.openRuns()).toMatchObject([{ spans: spans.length, isComplete: false }])
  })
})

it('counts spans in progress by what they take once they are decompressed, and drops the oldest trace above the limit', () => {
  const text = 'x'.repeat(300 * KIBIBYTE)
  const runs = Array.from({ length: 40 }, () => makeRun({ text }))
  for (const { spans } of runs) arrive([spans[2]])
  expect(ingest.openCount).toBeLessThan(33)
  expect(ingest.openCount + ingest.dropped).toBe(40)
})

it('reads a run again with a span that came late, and leaves out spans that it has', () => {
  const run = makeRun({ traceId })
  const late = makeRun({ traceId, agentSpanId: run.agentSpanId }).spans[1]
  settle(run)
  // The service reads its log again after a restart.
  arrive(run.spans)
  expect(ingest.openCount).toBe(0)
  arrive([late])
  const id = settled(traceId, run.agentSpanId, [...run.spans, late])
  expect(ingest.contentOf(id).spans).toHaveLength(4)
  expect(database.prepare('SELECT revision, tool_calls FROM runs').all()).toMatchObject([
    { revision: 4, tool_calls: 2 },
  ])
})

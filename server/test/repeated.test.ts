import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import type { RunningServer } from '../src/start.ts'
import { eventually, startWithPage } from './page/page-client.ts'
import type { PageUnderTest } from './page/page-client.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import { makeRun, post, toRequest } from './traces.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-repeated-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const { traces } = serverOptions('')
/** A scored run waits for late spans no longer than for its first ones. */
const brief = { ...traces, lingerMs: 100 }

const countsOf = (server: RunningServer) =>
  server.counts() as { service: { runs: number; repeated: number }; traces: { heldSpans: number } }
const isForgotten = (server: RunningServer) => (): number => countsOf(server).traces.heldSpans

it('a run that is sent again after its scores were delivered is not scored or counted again', async () => {
  await using sink = await createSink()
  const lines: string[] = []
  const server = await startServer(serverOptions(sink.url, { traces: brief, report: (line) => lines.push(line) }))
  const request = toRequest(makeRun().spans)
  for (let time = 0; time < 3; time++) {
    expect(await post(server.httpPort, request)).toBe(200)
    await expect.poll(isForgotten(server), { timeout: 10_000 }).toBe(0)
  }
  expect(countsOf(server).service).toMatchObject({ runs: 1, repeated: 6 })
  expect(lines).toContainEqual(expect.stringContaining('Spans came again for a run whose scores were delivered'))
  await server.stop()
  const runs = sink.logs.map(({ attributes }) => attributes['spanscore.score.id'])
  expect(new Set(runs).size).toBe(runs.length)
})

it('a repetition with one more span, however late it comes, turns no delivered verdict', async () => {
  await using sink = await createSink()
  const server = await startServer(serverOptions(sink.url, { traces: { ...traces, lingerMs: 1500 } }))
  const victim = makeRun({ toolFails: true })
  const { traceId, agentSpanId } = victim
  await post(server.httpPort, toRequest(victim.spans, 'shop'))
  await expect.poll(() => sink.logs.length, { timeout: 10_000 }).toBeGreaterThan(0)
  await expect.poll(isForgotten(server), { timeout: 10_000 }).toBe(0)
  const delivered = sink.logs.length
  const evil = makeRun({ traceId, agentSpanId, text: 'EVIL' })
  await post(server.httpPort, toRequest(evil.spans, 'evil'))
  // The repetition was looked at, and waits for late spans.
  await expect.poll(() => countsOf(server).service.repeated, { timeout: 10_000 }).toBe(3)
  const [, tool] = makeRun({ traceId, agentSpanId }).spans
  await post(server.httpPort, toRequest([tool], 'evil'))
  await expect.poll(() => countsOf(server).service.repeated, { timeout: 10_000 }).toBe(7)
  await expect.poll(isForgotten(server), { timeout: 10_000 }).toBe(0)
  await post(server.httpPort, toRequest(makeRun({ traceId, agentSpanId }).spans.slice(1, 2), 'evil'))
  await expect.poll(isForgotten(server), { timeout: 10_000 }).toBe(0)
  await server.stop()
  expect(sink.logs).toHaveLength(delivered)
})

it('another service with the ids of a stored run rewrites neither the run nor its verdicts, also after a restart', async () => {
  let page: PageUnderTest = await startWithPage(folder, { traces: brief })
  const list = () => page.get<{ runs: readonly Stored[] }>('/api/runs')
  interface Stored {
    readonly id: string
    readonly service: string
    readonly question: string
    readonly scores: readonly { readonly scorer: string; readonly label: string | null }[]
  }
  const victim = makeRun({ toolFails: true })
  const { traceId, agentSpanId } = victim
  const send = (run: { readonly spans: readonly unknown[] }, service: string) =>
    post(page.server.httpPort, toRequest(run.spans, service))
  await send(victim, 'shop')
  const before = await eventually(list, ({ runs }) => runs[0]?.scores.length === 5)
  await expect.poll(isForgotten(page.server), { timeout: 10_000 }).toBe(0)

  const evil = makeRun({ traceId, agentSpanId, text: 'EVIL' })
  const larger = { spans: [...evil.spans, ...makeRun({ traceId, agentSpanId, text: 'EVIL' }).spans.slice(0, 2)] }
  // An agent that another one has started with a tool.
  const planner = makeRun({ traceId })
  const [, tool] = planner.spans as readonly { readonly spanId: string }[]
  const below = (span: unknown): unknown =>
    span === evil.spans[2] ? Object.assign({}, span, { parentSpanId: tool?.spanId }) : span
  const asChild = { spans: [...planner.spans, ...evil.spans.map(below)] }
  for (const run of [evil, larger, asChild]) {
    await send(run, 'evil')
    await expect.poll(isForgotten(page.server), { timeout: 10_000 }).toBe(0)
  }
  expect(countsOf(page.server).service).toMatchObject({ runs: 1 })
  expect((await list()).runs).toEqual(before.runs)

  // The service remembers delivered runs until it ends. The page keeps what it has.
  await page.server.stop()
  page = await startWithPage(folder, { traces: brief })
  await send(evil, 'evil')
  await expect.poll(isForgotten(page.server), { timeout: 10_000 }).toBe(0)
  expect((await list()).runs).toEqual(before.runs)
  await page.server.stop()
})

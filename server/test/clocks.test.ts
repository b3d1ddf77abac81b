/** A service whose clock is driven by the test: long traces, and senders whose clocks are wrong. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import { makeRun, post, shifted, toRequest, until } from './traces.ts'

const SECOND_MS = 1000
const DAY_MS = 86_400_000

// The sweeps of the service and its time are driven. Connections and the destination are real.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** The waits of the command line. */
const traces = {
  ...serverOptions('').traces,
  settleMs: 10_000,
  orphanMs: 300_000,
  lingerMs: 300_000,
  maxAgeMs: 86_400_000,
}

/** A span of `makeRun` at a time of the test's clock. */
const at = (span: unknown, startMs: number, endMs: number) => ({
  ...(span as object),
  startTimeUnixNano: String(BigInt(startMs) * 1_000_000n),
  endTimeUnixNano: String(BigInt(endMs) * 1_000_000n),
})

it.each([
  ['one process', 'agents', 0],
  ['two processes, whose clocks differ by 30 s', 'tools', 30_000],
])(
  'scores each of 120 runs, one a second in one trace, 10 to 12 s after its last span: %s',
  async (_, toolService, wrongByMs) => {
    /** The time at which the score of a run arrived, by its agent's span. */
    const scoredAtMs = new Map<string, number>()
    await using sink = await createSink({
      onLogs: (logs) => {
        for (const { spanId } of logs) if (!scoredAtMs.has(spanId)) scoredAtMs.set(spanId, Date.now())
      },
    })
    const server = await startServer(serverOptions(sink.url, { traces }))
    const traceId = randomBytes(16).toString('hex')
    const sessionId = randomBytes(8).toString('hex')
    const startMs = Date.now()
    // A model call ends first, a tool one second later, and the agent after another second, so three runs are always in progress.
    const runs = Array.from({ length: 120 }, (__, second) => {
      const { agentSpanId, spans } = makeRun({ traceId })
      const [chat, tool, agent] = spans
      const beginMs = startMs + second * SECOND_MS
      return {
        agentSpanId,
        chat: at(chat, beginMs, beginMs + 900),
        tool: at(tool, beginMs + 1000 + wrongByMs, beginMs + 1900 + wrongByMs),
        agent: { ...at(agent, beginMs, beginMs + 2900), parentSpanId: sessionId },
      }
    })
    for (let second = 0; second < runs.length + 15; second++) {
      await vi.advanceTimersByTimeAsync(SECOND_MS)
      const fromAgents = [runs[second]?.chat ?? [], runs[second - 2]?.agent ?? []].flat()
      const fromTools = [runs[second - 1]?.tool ?? []].flat()
      expect(await post(server.httpPort, toRequest(fromAgents, 'agents'))).toBe(200)
      expect(await post(server.httpPort, toRequest(fromTools, toolService))).toBe(200)
      // The agent of this run arrived 12 s ago. It waits for 10 s, and for spans that arrived meanwhile and may belong to it.
      const due = runs[second - 14]?.agentSpanId
      if (due !== undefined) await until(() => scoredAtMs.has(due), `the score of run ${second - 14}`, 20_000)
    }
    for (const [index, { agentSpanId }] of runs.entries()) {
      const waitedMs = (scoredAtMs.get(agentSpanId) ?? 0) - startMs - (index + 3) * SECOND_MS
      expect(waitedMs).toBeGreaterThanOrEqual(10_000)
      expect(waitedMs).toBeLessThanOrEqual(12_000)
    }
    // The span around all runs arrives at the end. It makes no further run, and changes none.
    const [span] = makeRun({ traceId }).spans
    const session = { ...at(span, startMs, Date.now()), spanId: sessionId, name: 'GET /session', attributes: [] }
    expect(await post(server.httpPort, toRequest([session], 'agents'))).toBe(200)
    await vi.advanceTimersByTimeAsync(20 * SECOND_MS)
    await server.stop()
    expect(server.counts()).toMatchObject({ service: { runs: 120, revisions: 0, errors: 0 }, traces: { late: 0 } })
    const scored = sink.logs.map(({ attributes }) => [
      attributes['spanscore.revision'],
      attributes['spanscore.complete'],
    ])
    expect(new Set(scored.map(String))).toEqual(new Set(['3,true']))
  },
  120_000,
)

it.each([-3600, 3600])('scores runs on time if its own clock is set by %d s, and treats none as late', async (byS) => {
  await using sink = await createSink()
  const server = await startServer(serverOptions(sink.url, { traces }))
  const [before, open, after] = [makeRun(), makeRun(), makeRun()]
  expect(await post(server.httpPort, toRequest(before.spans))).toBe(200)
  expect(await post(server.httpPort, toRequest(open.spans.slice(0, 2)))).toBe(200)
  vi.setSystemTime(Date.now() + byS * SECOND_MS)
  await vi.advanceTimersByTimeAsync(5 * SECOND_MS)
  expect(sink.logs).toEqual([])
  expect(await post(server.httpPort, toRequest(open.spans.slice(2)))).toBe(200)
  expect(await post(server.httpPort, toRequest(after.spans))).toBe(200)
  expect((await fetch(`http://127.0.0.1:${server.httpPort}/health`)).status).toBe(200)
  await vi.advanceTimersByTimeAsync(12 * SECOND_MS)
  const scored = () => new Set(sink.spans.map(({ traceId }) => traceId)).size
  await until(() => scored() === 3, 'the scores of all runs')
  expect(new Set(sink.spans.map(({ attributes }) => attributes['spanscore.revision']))).toEqual(new Set([3]))
  await server.stop()
})

it('makes the same runs and scores if the clock of one sender is 30 s fast or slow', async () => {
  // The agent and its first model call run in one process; the tool in another one, which calls a model itself.
  const runs = Array.from({ length: 40 }, (_, index) => makeRun({ toolFails: index % 3 === 0 }))
  const outcomes: unknown[] = []
  for (const wrongByMs of [0, 30_000, -30_000]) {
    await using sink = await createSink()
    const server = await startServer(serverOptions(sink.url, { traces }))
    const send = async (spans: readonly unknown[], service: string) => {
      expect(await post(server.httpPort, toRequest(spans, service))).toBe(200)
      await vi.advanceTimersByTimeAsync(2 * SECOND_MS)
    }
    const inTool = runs.map(({ traceId, spans }) => {
      const [chat, tool] = spans as readonly { readonly spanId: string }[]
      return { ...chat, traceId, spanId: `${tool?.spanId.slice(1)}f`, parentSpanId: tool?.spanId }
    })
    await send(
      inTool.map((span) => shifted(span, wrongByMs)),
      'tools',
    )
    await send(
      runs.map(({ spans }) => spans[0]),
      'agents',
    )
    await send(
      runs.map(({ spans }) => shifted(spans[1], wrongByMs)),
      'tools',
    )
    await send(
      runs.map(({ spans }) => spans[2]),
      'agents',
    )
    await vi.advanceTimersByTimeAsync(12 * SECOND_MS)
    const scored = () => new Set(sink.spans.map(({ traceId }) => traceId)).size
    await until(() => scored() === runs.length, 'the scores of all runs', 20_000)
    // Later sweeps add nothing.
    await vi.advanceTimersByTimeAsync(400 * SECOND_MS)
    await server.stop()
    outcomes.push(
      sink.logs
        .map(({ traceId, spanId, attributes }) => [
          `${traceId}:${spanId}`,
          attributes['gen_ai.evaluation.name'],
          attributes['gen_ai.evaluation.score.label'],
          attributes['spanscore.score.key'],
          attributes['spanscore.score.id'],
          attributes['spanscore.revision'],
          attributes['spanscore.complete'],
        ])
        .toSorted((left, right) => (String(left) < String(right) ? -1 : 1)),
    )
  }
  const [right, ...wrong] = outcomes as readonly (readonly unknown[][])[]
  expect(new Set(right?.map(([run]) => run))).toEqual(
    new Set(runs.map(({ traceId, agentSpanId }) => `${traceId}:${agentSpanId}`)),
  )
  expect(new Set(right?.map(([, , , , , revision]) => revision))).toEqual(new Set([4]))
  for (const outcome of wrong) expect(outcome).toEqual(right)
}, 60_000)

function recordsIn(folder: string): unknown {
  using database = new DatabaseSync(join(folder, 'spans.db'))
  return database.prepare('SELECT count(*) AS count FROM records').get()?.['count']
}

it.each(['memory', 'sqlite'])(
  'deletes what could not be delivered for seven days, with its log in %s',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'spanscore-days-'))
    await using sink = await createSink()
    sink.status = 0
    const limits = { ...serverOptions('').limits, retentionMs: 7 * DAY_MS }
    const dataFolder = kind === 'sqlite' ? folder : undefined
    // The agent of one run does not arrive, so that run is not complete. The other ones are scored or wait for it.
    const patient = { ...traces, orphanMs: 30 * DAY_MS, maxAgeMs: 30 * DAY_MS }
    const options = serverOptions(sink.url, {
      dataFolder,
      limits,
      traces: patient,
      forwards: true,
      maxWaitingScores: 2,
    })
    const server = await startServer(options)
    const counts = () =>
      server.counts() as {
        traces: { expired: number; heldSpans: number }
        service: { expiredRequests: number; runs: number }
        outbox: { failures: number }
      }
    await vi.advanceTimersByTimeAsync(SECOND_MS)
    expect(await post(server.httpPort, makeRun().requests[0])).toBe(200)
    const whole = Array.from({ length: 1000 }, () => makeRun().spans)
    expect(await post(server.httpPort, toRequest(whole.flat()))).toBe(200)
    await vi.advanceTimersByTimeAsync(12 * SECOND_MS)
    await until(() => counts().outbox.failures > 0, 'a failed delivery', 20_000)
    vi.setSystemTime(Date.now() + 7 * DAY_MS - 60 * SECOND_MS)
    await vi.advanceTimersByTimeAsync(SECOND_MS)
    expect(counts()).toMatchObject({ traces: { expired: 0, heldSpans: 3001 }, service: { expiredRequests: 0 } })
    vi.setSystemTime(Date.now() + 11 * 60 * SECOND_MS)
    await vi.advanceTimersByTimeAsync(SECOND_MS)
    expect(counts()).toMatchObject({ traces: { expired: 3001, heldSpans: 0 }, service: { expiredRequests: 2 } })
    // The scores are still delivered, but nothing is scored whose content is gone.
    sink.status = 200
    const lateSpans = () => sink.spans.filter(({ name }) => name.startsWith('evaluate '))
    const delivered = () => new Set(lateSpans().map(({ traceId }) => traceId)).size
    await until(() => delivered() > 0 && delivered() === counts().service.runs, 'the scores', 30_000)
    await vi.advanceTimersByTimeAsync(SECOND_MS)
    await server.stop(500)
    expect(server.counts()).toMatchObject({ service: { runs: delivered(), errors: 0 }, forward: { waiting: 0 } })
    expect(delivered()).toBeLessThan(1000)
    expect(kind === 'sqlite' ? recordsIn(folder) : 0).toBe(0)
    rmSync(folder, { recursive: true, force: true })
  },
  90_000,
)

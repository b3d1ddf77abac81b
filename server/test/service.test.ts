import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { afterAll, describe, expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { describeScenarios } from './scenarios.ts'
import type { ScoringSystem } from './scenarios.ts'
import { createSink } from './sink.ts'
import { makeRun, post, toRequest, until } from './traces.ts'
import type { MadeRun } from './traces.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-test-'))
  folders.push(folder)
  return folder
}

function accepted(status: number): void {
  if (status !== 200) throw new Error(`Expected the request to be taken, got status ${status}.`)
}

/** A log record of the agent's span with a system instruction. */
function contentLog({ traceId, agentSpanId }: MadeRun, eventName = 'gen_ai.client.inference.operation.details') {
  const value = { stringValue: JSON.stringify([{ type: 'text', content: 'Name the city.' }]) }
  const record = {
    traceId,
    spanId: agentSpanId,
    timeUnixNano: `${Date.now()}000000`,
    eventName,
    attributes: [{ key: 'gen_ai.system_instructions', value }],
  }
  return { resourceLogs: [{ scopeLogs: [{ scope: { name: 'my-agents' }, logRecords: [record] }] }] }
}

const LOGS = [
  { kind: 'memory', folder: () => undefined },
  { kind: 'sqlite', folder: newFolder },
]

for (const { kind, folder } of LOGS) {
  describeScenarios(`in ${kind}`, async (to, configPath): Promise<ScoringSystem> => {
    const options = serverOptions(to, { dataFolder: folder(), configPath })
    let server = await startServer(options)
    return {
      isDurable: options.dataFolder !== undefined,
      send: async (request) => accepted(await post(server.httpPort, request)),
      sendBytes: async (_traceId, body) => {
        const response = await fetch(`http://127.0.0.1:${server.httpPort}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-protobuf' },
          body: new Uint8Array(body),
        })
        accepted(response.status)
      },
      restart: async () => {
        await server.stop()
        server = await startServer(options)
      },
      counts: () => server.counts(),
      stop: () => server.stop(),
    }
  })
}

const runOf = (log: { traceId: string; spanId: string }) => `${log.traceId}:${log.spanId}`

/** Tests of receiving and of stored data. */
describe.each(LOGS)('a service with its log in $kind', ({ kind, folder }) => {
  it('holds a bounded number of spans while the destination is unavailable, and scores every accepted run afterwards', async () => {
    await using sink = await createSink()
    sink.status = 0
    const traces = { ...serverOptions('').traces, maxSpans: 60 }
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder(), traces, maxWaitingScores: 5 }))
    const taken: string[] = []
    let refused = 0
    for (let index = 0; index < 120; index++) {
      const run = makeRun()
      const statuses = [await post(server.httpPort, toRequest(run.spans))]
      if (statuses[0] === 200) taken.push(run.traceId)
      else refused += 1
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect(refused).toBeGreaterThan(0)
    sink.status = 200
    await until(
      () => new Set(sink.logs.map(({ traceId }) => traceId)).size === taken.length,
      'a score of every run',
      15_000,
    )
    await server.stop()
    expect(new Set(sink.logs.map(({ traceId }) => traceId))).toEqual(new Set(taken))
  })

  it('leaves room for other services when the spans of one wait', async () => {
    await using sink = await createSink()
    const traces = { ...serverOptions('').traces, maxSpans: 100, settleMs: 60_000 }
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder(), traces }))
    const statusOf = (serviceName: string) =>
      post(server.httpPort, toRequest(makeRun({ serviceName }).spans, serviceName))
    let taken = 0
    while ((await statusOf('one')) === 200) taken += 1
    expect(taken).toBe(27)
    expect(await statusOf('two')).toBe(200)
    expect(await statusOf('one')).toBe(503)
    await server.stop()
  })

  it('refuses requests while its log is too large, and takes them again once scores were delivered', async () => {
    await using sink = await createSink()
    const { limits, traces } = serverOptions('')
    const server = await startServer(
      serverOptions(sink.url, {
        dataFolder: folder(),
        limits: { ...limits, maxLogBytes: 500 },
        traces: { ...traces, lingerMs: 0 },
      }),
    )
    const [first, second] = [makeRun(), makeRun()]
    expect(await post(server.httpPort, toRequest(first.spans))).toBe(200)
    expect(await post(server.httpPort, toRequest(second.spans))).toBe(503)
    await until(() => sink.logs.some(({ traceId }) => traceId === first.traceId), 'the scores of the first run')
    let status = 503
    while (status === 503) status = await post(server.httpPort, toRequest(second.spans))
    expect(status).toBe(200)
    await until(() => sink.logs.some(({ traceId }) => traceId === second.traceId), 'the scores of the second run')
    await server.stop()
  })

  it('scores a run again when the content of its spans comes in log records after its scores, and not when these come again', async () => {
    await using sink = await createSink()
    const options = serverOptions(sink.url, { dataFolder: folder() })
    let server = await startServer(options)
    const run = makeRun()
    expect(await post(server.httpPort, toRequest(run.spans))).toBe(200)
    const revisions = () =>
      new Set(
        sink.logs
          .filter(({ traceId }) => traceId === run.traceId)
          .map(({ attributes }) => attributes['spanscore.revision']),
      )
    await until(() => revisions().size === 1, 'the first scores')
    const late = contentLog(run)
    // Other log records of the same span are no content.
    for (const request of [contentLog(run, 'app.started'), late]) {
      expect(await post(server.httpPort, request, '/v1/logs')).toBe(200)
    }
    await until(() => revisions().size === 2, 'the second scores')
    expect([...revisions()]).toEqual([3, 4])
    expect(new Set(sink.logs.map(({ attributes }) => attributes['spanscore.score.key'])).size).toBe(
      new Set(sink.logs.map(({ attributes }) => attributes['gen_ai.evaluation.name'])).size,
    )
    expect(await post(server.httpPort, late, '/v1/logs')).toBe(200)
    if (kind === 'sqlite') {
      await server.stop()
      server = await startServer(options)
    }
    const next = makeRun()
    expect(await post(server.httpPort, toRequest(next.spans))).toBe(200)
    await until(() => sink.logs.some(({ traceId }) => traceId === next.traceId), 'the scores of the next run')
    expect([...revisions()]).toEqual([3, 4])
    await server.stop()
  })

  it('forwards requests unchanged', async () => {
    await using sink = await createSink()
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder(), forwards: true }))
    const run = makeRun()
    for (const request of run.requests) await post(server.httpPort, request)
    await until(
      () => sink.requests.filter(({ headers }) => headers['content-type'] === 'application/json').length === 3,
      'the requests',
    )
    expect(
      sink.requests
        .filter(({ headers }) => headers['content-type'] === 'application/json')
        .map(({ body }) => body.toString()),
    ).toEqual(run.requests.map((request) => JSON.stringify(request)))
    await server.stop()
  })

  it('stops while the destination is unavailable, and reports what was not delivered', async () => {
    await using sink = await createSink()
    sink.status = 0
    const lines: string[] = []
    const server = await startServer(
      serverOptions(sink.url, {
        to: { url: sink.url, headers: {}, timeoutMs: 500 },
        dataFolder: folder(),
        report: (line) => void lines.push(line),
      }),
    )
    for (const request of makeRun().requests) await post(server.httpPort, request)
    await until(
      () => (server.counts() as { outbox: { failures: number } }).outbox.failures > 0,
      'a failed attempt',
      20_000,
    )
    await server.stop(3000)
    expect(lines.at(-1)).toMatch(
      kind === 'memory'
        ? /^The scores of 1 runs were not delivered: they are lost/
        : /^The scores of 1 runs were not delivered: their spans stay on the log/,
    )
  }, 40_000)

  it('deletes undelivered data after the configured number of days', async () => {
    await using sink = await createSink()
    sink.status = 0
    const data = folder()
    const limits = { ...serverOptions('').limits, retentionMs: 0 }
    const traces = { ...serverOptions('').traces, settleMs: 60_000 }
    let server = await startServer(serverOptions(sink.url, { dataFolder: data, traces, forwards: true }))
    expect(await post(server.httpPort, makeRun().requests[0])).toBe(200)
    await server.stop()
    // Nothing is left in memory.
    if (kind === 'memory') return
    server = await startServer(serverOptions(sink.url, { dataFolder: data, traces, limits, forwards: true }))
    const counts = () => server.counts() as { traces: { expired: number }; service: { expiredRequests: number } }
    await until(() => counts().traces.expired === 1 && counts().service.expiredRequests === 1, 'the deletion')
    await server.stop()
    const database = new DatabaseSync(join(data ?? '', 'spans.db'))
    expect(database.prepare('SELECT count(*) AS count FROM records').get()).toEqual({ count: 0 })
    expect(database.prepare('SELECT count(*) AS count FROM forward').get()).toEqual({ count: 0 })
    database.close()
  })
})

describe('a data folder that an older version of the service wrote', () => {
  it('is migrated to the schema of this version: open runs are scored, finished ones are not', async () => {
    // The first version wrote this folder. It has one run with acknowledged scores, one run whose agent has not arrived, and a
    // record with one finished and one unfinished run.
    const scored = { traceId: 'a'.repeat(32), spanId: '79c1bb6357dfa226' }
    const open = { traceId: 'b'.repeat(32), spanId: '61e404c29b267797' }
    const finished = { traceId: 'c'.repeat(32), spanId: '4713a59365d08009' }
    const unscored = { traceId: 'c'.repeat(32), spanId: '3ec4d52949f7e9b2' }
    const folder = newFolder()
    copyFileSync(new URL('fixtures/schema-1.db', import.meta.url), join(folder, 'spans.db'))
    await using sink = await createSink()
    // The folder is as old as this test file.
    const limits = { ...serverOptions('').limits, retentionMs: Number.MAX_SAFE_INTEGER }
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder, forwards: true, limits }))
    const agent = makeRun({ traceId: open.traceId, agentSpanId: open.spanId }).requests[2]
    expect(await post(server.httpPort, agent)).toBe(200)
    const revisionOf = (run: typeof open) =>
      sink.logs.find((log) => runOf(log) === runOf(run))?.attributes['spanscore.revision']
    await until(() => revisionOf(open) !== undefined && revisionOf(unscored) !== undefined, 'both runs')
    // These are the request that waited to be forwarded, and the one that was sent now.
    await until(
      () => sink.requests.filter(({ headers }) => headers['content-type'] === 'application/json').length === 2,
      'both requests',
    )
    await server.stop()
    expect(revisionOf(open)).toBe(3)
    expect(revisionOf(unscored)).toBe(3)
    expect(revisionOf(finished)).toBeUndefined()
    // The service remembers runs that were scored, and does not create new ones.
    expect(server.counts()).toMatchObject({ service: { runs: 2, undecodable: 0, errors: 0 } })
    expect(sink.logs.filter((log) => runOf(log) === runOf(scored)).length).toBeLessThanOrEqual(3)
  })
})

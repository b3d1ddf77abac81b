import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { ScoringSpanProcessor } from 'spanscore'
import { createToolErrorsScorer } from 'spanscore/scorers/prebuilt'
import { afterAll, describe, expect, it } from 'vitest'

import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import { makeRun, post, toRequest, until } from './traces.ts'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-test-'))
  folders.push(folder)
  return folder
}

const text = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

/** The spans of a run that a processor in the application has scored, as they are exported. */
async function scoredInProcess(): Promise<readonly ReadableSpan[]> {
  const exporter = new InMemorySpanExporter()
  const next = new SimpleSpanProcessor(exporter)
  const provider = new BasicTracerProvider({
    spanProcessors: [new ScoringSpanProcessor({ scorers: [createToolErrorsScorer()], next })],
  })
  const tracer = provider.getTracer('my-agents')
  const agent = tracer.startSpan('invoke_agent weather-agent', {
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'weather-agent',
      'gen_ai.input.messages': text('user', 'Weather in Oslo?'),
      'gen_ai.output.messages': text('assistant', 'It rains.'),
    },
  })
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'weather' }
  tracer.startSpan('execute_tool weather', { attributes }, trace.setSpan(ROOT_CONTEXT, agent)).end()
  agent.end()
  await provider.forceFlush()
  const spans = exporter.getFinishedSpans()
  expect(spans.at(-1)?.attributes['spanscore.tool_errors.version']).toMatch(/^[0-9a-f]{8}$/)
  return spans
}

function withAttributes(span: ReadableSpan, traceId: string, change: ReadableSpan['attributes']): ReadableSpan {
  const attributes = { ...span.attributes }
  for (const key of Object.keys(change)) if (key in attributes) Object.assign(attributes, change)
  const inTrace = (context: SpanContext) => ({ ...context, traceId })
  const { parentSpanContext } = span
  const copy: Partial<ReadableSpan> = {
    attributes,
    spanContext: () => inTrace(span.spanContext()),
    ...(parentSpanContext !== undefined && { parentSpanContext: inTrace(parentSpanContext) }),
  }
  return new Proxy(span, { get: (target, key) => Reflect.get(copy, key) ?? Reflect.get(target, key, target) })
}

const runOf = (log: { traceId: string; spanId: string }) => `${log.traceId}:${log.spanId}`

/** The same behaviour on every log. */
describe.each([
  { kind: 'memory', folder: () => undefined },
  { kind: 'sqlite', folder: newFolder },
])('a service with its log in $kind', ({ kind, folder }) => {
  it('scores a run whose spans come one by one, and sends events and late spans with the resource of its service', async () => {
    await using sink = await createSink()
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder() }))
    const run = makeRun({ toolFails: true })
    for (const request of run.requests) expect(await post(server.httpPort, request)).toBe(200)
    await until(() => sink.spans.length >= 3, 'the scores')
    await server.stop()

    const byName = new Map(sink.logs.map((log) => [log.attributes['gen_ai.evaluation.name'], log]))
    const toolErrors = byName.get('tool_errors')
    expect(toolErrors).toMatchObject({
      traceId: run.traceId,
      spanId: run.agentSpanId,
      eventName: 'gen_ai.evaluation.result',
      attributes: {
        'gen_ai.agent.name': 'weather-agent',
        'gen_ai.evaluation.score.label': 'fail',
        'spanscore.revision': 3,
        'spanscore.complete': true,
      },
    })
    expect(toolErrors?.attributes['spanscore.score.key']).toMatch(/^[0-9a-f]{32}$/)
    const late = sink.spans.find((span) => span.name === 'evaluate tool_errors')
    expect(late).toMatchObject({ traceId: run.traceId, parentSpanId: run.agentSpanId, scope: { name: 'spanscore' } })
    expect(late?.resource['service.name']).toBe('weather-app')
    expect(server.counts()).toMatchObject({
      service: { runs: 1, revisions: 0, errors: 0 },
      outbox: { waiting: 0, refused: 0 },
    })
  })

  it('scores every run of thousands that are complete at the same moment, also with a scorer that takes its time', async () => {
    await using sink = await createSink()
    const configPath = join(newFolder(), 'spanscore.config.mjs')
    writeFileSync(
      configPath,
      `import { createScorer } from 'spanscore/scorers/prebuilt'
      const pause = () => new Promise((resolve) => setTimeout(resolve, 1))
      const patient = createScorer({ id: 'patient', description: 'Takes its time.', passAt: 0.5, version: 1 })
      export default { scorers: [patient.generateScore(async () => { await pause(); return 1 })] }`,
    )
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder(), configPath }))
    const runs = Array.from({ length: 2500 }, () => makeRun())
    for (const place of [0, 1, 2]) {
      expect(await post(server.httpPort, toRequest(runs.map((run) => run.spans[place])))).toBe(200)
    }
    await until(() => sink.logs.length >= runs.length, 'a score of every run', 40_000)
    await server.stop()
    expect(new Set(sink.logs.map(runOf)).size).toBe(runs.length)
  }, 60_000)

  it('gives a late span a higher revision of the same score, which is not counted again', async () => {
    await using sink = await createSink()
    const data = folder()
    let server = await startServer(serverOptions(sink.url, { dataFolder: data }))
    const run = makeRun()
    for (const request of run.requests) await post(server.httpPort, request)
    await until(() => sink.spans.length >= 3, 'the scores')
    const before = sink.logs.length
    if (kind === 'sqlite') {
      await server.stop()
      server = await startServer(serverOptions(sink.url, { dataFolder: data }))
    }
    await new Promise((resolve) => setTimeout(resolve, 1000))
    // What was scored before the restart is not scored again.
    expect(sink.logs.length).toBe(before)
    const late = {
      traceId: run.traceId,
      spanId: 'abcdef0123456789',
      parentSpanId: run.agentSpanId,
      name: 'execute_tool search',
      kind: 1,
      startTimeUnixNano: '1',
      endTimeUnixNano: '2',
      attributes: [
        { key: 'gen_ai.operation.name', value: { stringValue: 'execute_tool' } },
        { key: 'gen_ai.tool.name', value: { stringValue: 'search' } },
      ],
      status: { code: 2 },
    }
    expect(await post(server.httpPort, toRequest([late]))).toBe(200)
    await until(() => sink.logs.length > before, 'the second revision')
    await server.stop()
    const revisions = sink.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors')
    expect(revisions.map((log) => log.attributes['spanscore.revision'])).toEqual([3, 4])
    expect(new Set(revisions.map((log) => log.attributes['spanscore.score.key'])).size).toBe(1)
    expect(new Set(revisions.map((log) => log.attributes['spanscore.score.id'])).size).toBe(2)
    expect(revisions.map((log) => log.attributes['gen_ai.evaluation.score.label'])).toEqual(['pass', 'fail'])
  })

  it('keeps scores until the destination acknowledges them, and answers senders meanwhile', async () => {
    await using sink = await createSink()
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder() }))
    sink.status = 0
    const run = makeRun()
    for (const request of run.requests) expect(await post(server.httpPort, request)).toBe(200)
    await until(() => (server.counts() as { outbox: { failures: number } }).outbox.failures > 0, 'a failed attempt')
    sink.status = 200
    await until(() => sink.spans.length >= 3, 'the scores')
    await server.stop()
    const ids = sink.logs.map((log) => log.attributes['spanscore.score.id'])
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('holds a bounded number of spans while the destination is away, and scores every run that it took when it is back', async () => {
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

  it('does not take a partial success for an acknowledgement, and loses only what is refused', async () => {
    await using sink = await createSink()
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder() }))
    // ExportLogsServiceResponse { partial_success { rejected_log_records: 1 } }
    sink.partial = Buffer.from([0x0a, 0x02, 0x08, 0x01])
    const run = makeRun()
    for (const request of run.requests) await post(server.httpPort, request)
    await until(
      () => (server.counts() as { outbox: { refused: number } }).outbox.refused >= 3,
      'refusals of single records',
    )
    await server.stop()
    expect(server.counts()).toMatchObject({ outbox: { refused: 3, waiting: 0 } })
  })

  it('passes requests on unchanged', async () => {
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

  it('leaves out a scorer whose score a processor in the application has put on the agent span, in the same version', async () => {
    await using sink = await createSink()
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder() }))
    const spans = await scoredInProcess()
    const other = spans.map((span) =>
      withAttributes(span, span.spanContext().traceId.replace(/./g, 'e'), {
        'spanscore.tool_errors.version': 'other123',
      }),
    )
    const send = async (body: readonly ReadableSpan[]) => {
      const response = await fetch(`http://127.0.0.1:${server.httpPort}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-protobuf' },
        body: Buffer.from(ProtobufTraceSerializer.serializeRequest([...body])!),
      })
      expect(response.status).toBe(200)
    }
    await send(spans)
    await send(other)
    const namesOf = (span: ReadableSpan) =>
      sink.logs
        .filter(({ traceId }) => traceId === span.spanContext().traceId)
        .map((log) => log.attributes['gen_ai.evaluation.name'])
        .toSorted()
    await until(() => namesOf(other[0]!).length > 1 && namesOf(spans[0]!).length > 0, 'the scores of both runs')
    await server.stop()
    expect(namesOf(spans[0]!)).toEqual(['answer_present'])
    expect(namesOf(other[0]!)).toEqual(['answer_present', 'tool_errors'])
    expect(server.counts()).toMatchObject({
      ledger: { scorers: { tool_errors: { reasons: { 'already-scored': 1 } } } },
    })
  })

  it('stops soon while the destination is away, and says what was not delivered', async () => {
    await using sink = await createSink()
    sink.status = 0
    const lines: string[] = []
    const server = await startServer(
      serverOptions(sink.url, { dataFolder: folder(), report: (line) => void lines.push(line) }),
    )
    for (const request of makeRun().requests) await post(server.httpPort, request)
    await until(
      () => (server.counts() as { outbox: { failures: number } }).outbox.failures > 0,
      'a failed attempt',
      20_000,
    )
    const startMs = performance.now()
    await server.stop(3000)
    expect(performance.now() - startMs).toBeLessThan(4000)
    expect(lines.at(-1)).toMatch(
      kind === 'memory'
        ? /^The scores of 1 runs were not delivered: they are lost/
        : /^The scores of 1 runs were not delivered: their spans stay on the log/,
    )
  }, 40_000)

  it('deletes what it could not deliver within the days that it may keep it', async () => {
    await using sink = await createSink()
    sink.status = 0
    const data = folder()
    const limits = { ...serverOptions('').limits, retentionMs: 0 }
    const traces = { ...serverOptions('').traces, settleMs: 60_000 }
    let server = await startServer(serverOptions(sink.url, { dataFolder: data, traces, forwards: true }))
    expect(await post(server.httpPort, makeRun().requests[0])).toBe(200)
    await server.stop()
    // In memory nothing is left.
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

  it('copies the attributes that are asked for to events', async () => {
    await using sink = await createSink()
    const configPath = join(newFolder(), 'spanscore.yaml')
    writeFileSync(configPath, 'scorers: [tool_errors]\nmetricAttributes: [service.name, gen_ai.agent.name, absent]\n')
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder(), configPath }))
    for (const request of makeRun({ serviceName: 'shop' }).requests) await post(server.httpPort, request)
    await until(() => sink.logs.length > 0, 'the score')
    await server.stop()
    expect(sink.logs[0]?.attributes).toMatchObject({ 'service.name': 'shop', 'gen_ai.agent.name': 'weather-agent' })
    // Once in the resource, and once at each point.
    const metrics = sink.requests
      .map(({ body }) => body.toString('latin1'))
      .filter((body) => body.includes('spanscore.score'))
    expect(metrics.some((body) => body.split('shop').length > 3)).toBe(true)
  })

  it('scores nothing that spanscore wrote', async () => {
    await using sink = await createSink()
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder() }))
    for (const request of makeRun({ scope: 'spanscore' }).requests)
      expect(await post(server.httpPort, request)).toBe(200)
    await new Promise((resolve) => setTimeout(resolve, 800))
    await server.stop()
    expect(sink.logs).toEqual([])
  })
})

describe('a data folder that an older version of the service wrote', () => {
  it('is brought to the schema of this version: what was open is scored, what was finished is not', async () => {
    // Written by the first version: one run whose scores were acknowledged, one whose agent has not arrived, and in one record a
    // run that was finished beside one that was not.
    const scored = { traceId: 'a'.repeat(32), spanId: '79c1bb6357dfa226' }
    const open = { traceId: 'b'.repeat(32), spanId: '61e404c29b267797' }
    const finished = { traceId: 'c'.repeat(32), spanId: '4713a59365d08009' }
    const unscored = { traceId: 'c'.repeat(32), spanId: '3ec4d52949f7e9b2' }
    const folder = newFolder()
    copyFileSync(new URL('fixtures/schema-1.db', import.meta.url), join(folder, 'spans.db'))
    await using sink = await createSink()
    // The folder is as old as the test.
    const limits = { ...serverOptions('').limits, retentionMs: Number.MAX_SAFE_INTEGER }
    const server = await startServer(serverOptions(sink.url, { dataFolder: folder, forwards: true, limits }))
    const agent = makeRun({ traceId: open.traceId, agentSpanId: open.spanId }).requests[2]
    expect(await post(server.httpPort, agent)).toBe(200)
    const revisionOf = (run: typeof open) =>
      sink.logs.find((log) => runOf(log) === runOf(run))?.attributes['spanscore.revision']
    await until(() => revisionOf(open) !== undefined && revisionOf(unscored) !== undefined, 'both runs')
    // The request that waited to be passed on, and the one that came now.
    await until(
      () => sink.requests.filter(({ headers }) => headers['content-type'] === 'application/json').length === 2,
      'both requests',
    )
    await server.stop()
    expect(revisionOf(open)).toBe(3)
    expect(revisionOf(unscored)).toBe(3)
    expect(revisionOf(finished)).toBeUndefined()
    // What had been scored is known: it is no new run.
    expect(server.counts()).toMatchObject({ service: { runs: 2, undecodable: 0, errors: 0 } })
    expect(sink.logs.filter((log) => runOf(log) === runOf(scored)).length).toBeLessThanOrEqual(3)
  })
})

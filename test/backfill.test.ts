/** `spanscore score --from` and `--to`, with servers that answer as the documentation of Tempo and Jaeger says. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { runCommand } from './fixtures/run-command.ts'

const root = resolve(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'spanscore-from-'))
afterAll(() => rmSync(folder, { recursive: true }))

const config = join(folder, 'one.config.ts')
writeFileSync(
  config,
  `import { createToolErrorsScorer } from '${root}/src/entries/scorers.ts'
export default { scorers: [createToolErrorsScorer()] }\n`,
)

const MINUTE_MS = 60_000
const text = (key: string, value: string) => ({ key, value: { stringValue: value } })
const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')

/** One run in a trace of its own; its id begins with zeros. */
interface StoredTrace {
  readonly id: string
  readonly startMs: number
  readonly endMs: number
}

function traceOf(number: number, startMs: number, durationMs = 500): StoredTrace {
  return { id: (number + 1).toString(16).padStart(32, '0'), startMs, endMs: startMs + durationMs }
}

/** A trace as Tempo's API version 2 writes it: its ids are base64, as in JSON of protobuf. */
function asTempo({ id, startMs, endMs }: StoredTrace, more: readonly unknown[]): unknown {
  const agent = `a${id.slice(17)}`
  const span = (name: string, spanId: string, at: readonly [number, number], attributes: readonly unknown[]) => ({
    traceId: base64(id),
    spanId: base64(spanId),
    ...(spanId !== agent && { parentSpanId: base64(agent) }),
    name,
    kind: 'SPAN_KIND_INTERNAL',
    startTimeUnixNano: `${at[0]}000000`,
    endTimeUnixNano: `${at[1]}000000`,
    attributes,
    status: {},
  })
  const spans = [
    span(
      'invoke_agent support',
      agent,
      [startMs, endMs],
      [text('gen_ai.operation.name', 'invoke_agent'), text('gen_ai.agent.name', 'support'), ...more],
    ),
    span(
      'execute_tool search',
      `b${id.slice(17)}`,
      [endMs - 1, endMs],
      [text('gen_ai.operation.name', 'execute_tool'), text('gen_ai.tool.name', 'search')],
    ),
  ]
  const resource = { attributes: [text('service.name', 'support')] }
  return { trace: { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'agents' }, spans }] }] } }
}

/** Tempo as https://grafana.com/docs/tempo/latest/api_docs/ describes it, and an OTLP endpoint. */
async function startServer(traces: readonly StoredTrace[], more: readonly unknown[] = []) {
  const searches: URL[] = []
  const reads: string[] = []
  const late: { traceId: string; spanId: string }[] = []
  const events: unknown[] = []
  const state = { failures: 0 }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://tempo')
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const answer = answerTo(url, chunks, request.headers)
      response.writeHead(answer === undefined ? 404 : state.failures-- > 0 ? 503 : 200)
      response.end(JSON.stringify(answer))
    })
  })
  const answerTo = (url: URL, chunks: readonly Buffer[], headers: NodeJS.Dict<string | string[]>): unknown => {
    if (url.pathname === '/api/search') {
      if (headers['x-scope-orgid'] !== 'team') return undefined
      searches.push(url)
      const number = (name: string) => Number(url.searchParams.get(name))
      const found = traces.filter(
        ({ startMs, endMs }) => endMs >= number('start') * 1000 && startMs <= number('end') * 1000,
      )
      const listed = found.slice(0, number('limit')).map(({ id, startMs }) => ({
        traceID: id.replace(/^0+/, ''),
        rootServiceName: 'support',
        rootTraceName: 'invoke_agent support',
        startTimeUnixNano: `${startMs}000000`,
        durationMs: 500,
      }))
      return { traces: listed, metrics: { inspectedTraces: found.length } }
    }
    if (url.pathname.startsWith('/api/v2/traces/')) {
      const id = url.pathname.slice('/api/v2/traces/'.length)
      reads.push(id)
      const trace = traces.find((each) => each.id === id)
      return trace === undefined ? undefined : asTempo(trace, more)
    }
    if (state.failures > 0) return {}
    const sent = JSON.parse(Buffer.concat(chunks).toString())
    for (const { scopeSpans } of sent.resourceSpans ?? []) late.push(...scopeSpans[0].spans)
    for (const { scopeLogs } of sent.resourceLogs ?? []) events.push(...scopeLogs[0].logRecords)
    return {}
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    from: `tempo://${host}`,
    to: `http://${host}`,
    searches,
    reads,
    late,
    events,
    state,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

const score = (server: { from: string; to: string }, ...more: readonly string[]) =>
  runCommand(['score', '--from', server.from, '--to', server.to, '--config', config, ...more], {
    environment: { SPANSCORE_FROM_HEADERS: 'X-Scope-OrgID=team' },
  })

describe('a backfill', () => {
  it('reads whole traces by time, in slices below the limit of a search, and sends each score once', async () => {
    const nowMs = Date.now()
    const busy = Array.from({ length: 150 }, (_, index) => traceOf(index, nowMs - 90 * MINUTE_MS + index * 100))
    const long = traceOf(150, nowMs - 110 * MINUTE_MS, 60 * MINUTE_MS)
    await using server = await startServer([...busy, long])
    const { code, stdout, stderr } = await score(server, '--since', '2h', '--query', '{ .mine = true }')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('151 runs in 302 spans. 151 scores sent.')
    expect(new Set(server.late.map(({ traceId }) => traceId))).toEqual(new Set([...busy, long].map(({ id }) => id)))
    expect(server.late).toHaveLength(151)
    expect(server.events).toHaveLength(151)
    expect(new Set(server.searches.map((url) => url.searchParams.get('q')))).toEqual(new Set(['{ .mine = true }']))
  })

  it('waits for a backend that is away for a moment', async () => {
    await using server = await startServer([traceOf(1, Date.now() - 30 * MINUTE_MS)])
    server.state.failures = 2
    expect((await score(server, '--since', '1h')).stdout).toContain('1 score sent.')
    expect(server.late).toHaveLength(1)
  })

  it('ends with a message where more traces are in the shortest time than a search returns', async () => {
    const second = Math.floor(Date.now() / 1000) * 1000 - 30 * MINUTE_MS
    await using server = await startServer(Array.from({ length: 200 }, (_, index) => traceOf(index, second, 1)))
    const { code, stderr } = await score(server, '--since', '1h')
    expect(code).toBe(2)
    expect(stderr).toMatch(/more traces at .* than can be read at once; choose some of them with --query/)
  })

  it('notes what it has done, continues there, and refuses the notes of another one', async () => {
    const nowMs = Date.now()
    const resume = join(folder, 'resume.json')
    const runs = [traceOf(1, nowMs - 50 * MINUTE_MS), traceOf(2, nowMs - 20 * MINUTE_MS)]
    await using server = await startServer(runs)
    await score(server, '--since', '1h', '--resume', resume)
    expect(server.late).toHaveLength(2)
    expect(existsSync(resume)).toBe(true)
    // As if it had been killed half an hour before the end.
    const noted: { toMs: number; doneMs: number } = JSON.parse(readFileSync(resume, 'utf8'))
    expect(noted.doneMs).toBe(noted.toMs)
    writeFileSync(resume, JSON.stringify({ ...noted, doneMs: nowMs - 30 * MINUTE_MS }))
    await score(server, '--since', '1h', '--resume', resume)
    expect(server.late.slice(2)).toEqual([server.late[1]])
    expect(await score(server, '--resume', resume, '--query', '{}')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('expected the same --from, --query and --to as before'),
    })
  })

  it('makes cases of the scores that a backend has', async () => {
    const input = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: 'Where is my order?' }] }])
    const failed = [
      text('gen_ai.input.messages', input),
      { key: 'spanscore.tool_errors.score', value: { doubleValue: 1 } },
      text('spanscore.tool_errors.label', 'fail'),
    ]
    await using server = await startServer([traceOf(1, Date.now() - 30 * MINUTE_MS)], failed)
    const { code, stdout } = await runCommand(['cases', '--from', server.from, '--since', '1h'], {
      environment: { SPANSCORE_FROM_HEADERS: 'X-Scope-OrgID=team' },
    })
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({
        input: 'Where is my order?',
        wrong: [{ scorer: 'tool_errors', score: 1, label: 'fail' }],
      }),
    ])
    expect((await runCommand(['cases'])).stderr).toContain(
      'expected trace files, or --from with a backend; got neither',
    )
  })

  it.each([
    [['--from', 'zipkin://localhost'], /--from: expected jaeger:\/\/host:port or tempo:\/\/host:port/],
    [['--from', 'zipkin://user:secret@localhost'], /got zipkin:\/\/…@localhost$/m],
    [['--from', 'tempo://user:secret@localhost'], /--from: expected an address without user and password/],
    [['--from', 'tempo://localhost', '--to', 'http://user:secret@localhost'], /--to: expected an address without user/],
    [['--from', 'tempo://localhost', '--since', 'yesterday'], /--since: expected a time such as 24h/],
    [['--from', 'tempo://localhost', '--since', '1m'], /--since: expected more than 5 minutes/],
    [['--from', 'tempo://localhost', 'file.json'], /--from: expected either a backend or files, got both: file\.json/],
    [['--from', 'tempo://localhost', '--to', 'localhost:4318'], /--to: expected a URL that begins with http/],
    [[], /expected trace files, or --from with a backend; got neither/],
  ])('%j is refused with what to do', async (argv, message) => {
    const { code, stderr } = await runCommand(['score', '--config', config, ...argv])
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})

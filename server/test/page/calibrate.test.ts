import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

import { afterEach, expect, it } from 'vitest'

import { serverOptions } from '../server-options.ts'
import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { makeRun, post } from '../traces.ts'
import { eventually, startWithPage } from './page-client.ts'
import type { PageUnderTest } from './page-client.ts'

const CLI = join(import.meta.dirname, '../../../cli/dist/main.js')
const FAILING = 12
const PASSING = 14
const SCORER = 'tool_errors'

let folder: string
let sink: Sink
let page: PageUnderTest

afterEach(async () => {
  await page.server.stop()
  await sink[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const calibrate = (files: readonly string[], labels: string) => {
  execFileSync(process.execPath, [CLI, 'calibrate', ...files, '--labels', labels, '--out', folder])
  return JSON.parse(readFileSync(join(folder, 'spanscore.calibration.json'), 'utf8')) as {
    calibrations: unknown[]
  }
}

const exported = async (what: string, from = page): Promise<string> => {
  const response = await fetch(`${from.origin}/api/labels/${what}?scorer=${SCORER}`, {
    headers: { authorization: `Bearer ${from.token}` },
  })
  return response.text()
}

interface Scorers {
  readonly scorers: readonly { readonly scorer: string; readonly version: string; readonly scores: number }[]
}

const isScored = ({ scorers }: Scorers): boolean =>
  scorers.some(({ scorer, scores }) => scorer === SCORER && scores === FAILING + PASSING)

it('writes labels and runs from which spanscore calibrate computes the same calibration as from those of the backend', async () => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-page-'))
  sink = await createSink()
  page = await startWithPage(folder, { to: serverOptions(sink.url).to })
  const runs = Array.from({ length: FAILING + PASSING }, (_unused, index) => makeRun({ toolFails: index < FAILING }))
  for (const run of runs) for (const request of run.requests) await post(page.server.httpPort, request)
  const { scorers } = await eventually(() => page.get<Scorers>('/api/overview'), isScored)
  const { version } = scorers.find(({ scorer }) => scorer === SCORER)!
  await page.post('/api/labels/draw', { scorer: SCORER, version, count: 24 })
  const query = `scorer=${SCORER}&version=${version}&labeller=ada`
  const { waiting } = await page.get<{ waiting: { runId: string }[] }>(`/api/labels?${query}`)
  expect(waiting).toHaveLength(24)
  // People agree with the scorer except about one run that it fails and one that it passes.
  const failing = new Set(runs.slice(0, FAILING).map(({ traceId, agentSpanId }) => `${traceId}:${agentSpanId}`))
  const drawnFailing = waiting.filter(({ runId }) => failing.has(runId))
  const drawnPassing = waiting.filter(({ runId }) => !failing.has(runId))
  const [fails, passes] = [drawnFailing.length, drawnPassing.length]
  expect([fails, passes]).toSatisfy(() => fails >= 10 && fails <= FAILING && passes <= PASSING)
  const label = { scorer: SCORER, version, labeller: 'ada', note: '' }
  for (const [index, { runId }] of drawnFailing.entries())
    await page.post('/api/labels', { ...label, runId, label: index === 0 ? 'pass' : 'fail' })
  for (const [index, { runId }] of drawnPassing.entries())
    await page.post('/api/labels', { ...label, runId, label: index === 0 ? 'fail' : 'pass' })

  const labels = join(folder, 'labels.jsonl')
  writeFileSync(labels, await exported('export'))
  const fromPage = join(folder, 'runs.jsonl')
  writeFileSync(fromPage, await exported('runs'))
  const { calibrations } = calibrate([fromPage], labels)
  // The two drawn runs that are mislabelled are weighted by how likely they were to be drawn.
  expect(calibrations).toMatchObject([
    {
      scorer: SCORER,
      version: version.slice(0, 8),
      judged: 26,
      labelledPass: passes,
      labelledFail: fails,
      confusion: {
        tp: expect.closeTo(((passes - 1) * PASSING) / passes / 26),
        fp: expect.closeTo(PASSING / passes / 26),
        fn: expect.closeTo(FAILING / fails / 26),
        tn: expect.closeTo(((fails - 1) * FAILING) / fails / 26),
      },
    },
  ])

  const traces = join(folder, 'traces.jsonl')
  writeFileSync(traces, runs.flatMap(({ requests }) => requests.map((each) => `${JSON.stringify(each)}\n`)).join(''))
  const events = join(folder, 'events.binpb')
  await eventually(
    async () => sink.logs.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === SCORER).length,
    (count) => count >= runs.length,
  )
  const bodies = sink.requests.filter(({ path }) => path === '/v1/logs')
  writeFileSync(
    events,
    Buffer.concat(
      bodies.map(({ body, headers }) => (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)),
    ),
  )
  expect(calibrate([traces, events], labels).calibrations).toEqual(calibrations)

  const otherFolder = join(folder, 'other')
  mkdirSync(otherFolder)
  const other = await startWithPage(otherFolder)
  for (const run of runs) for (const request of run.requests) await post(other.server.httpPort, request)
  await eventually(() => other.get<Scorers>('/api/overview'), isScored)
  const lines = readFileSync(labels, 'utf8')
  expect(await other.post('/api/labels/import', { lines })).toEqual({ imported: 24 })
  const { agreement } = await other.get<{ agreement: unknown }>(`/api/labels?${query}`)
  expect(agreement).toMatchObject({ bothPass: passes - 1, bothFail: fails - 1, missed: 1, falseAlarms: 1 })
  expect(await exported('export', other)).toBe(lines)
  await other.server.stop()
})

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, expect, it } from 'vitest'

import { Ingest } from '../src/page/ingest.ts'
import { openPageDatabase } from '../src/page/store/page-database.ts'
import { Forgetting } from '../src/page/store/forgetting.ts'
import { RequestReader } from '../src/receive/read-request.ts'
import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import { makeRun, post, toRequest } from './traces.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spanscore-forgotten-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A word that is nowhere else. */
function mark(): string {
  return randomBytes(12).toString('hex')
}

/** How many of the marks a file of the folder has. The beginning of a word may be shared with another one in the text index. */
function found(marks: readonly string[]): number {
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'))
  return marks.filter((each) => files.some((file) => file.includes(each.slice(4)))).length
}

it('nothing of a request is in the data folder after its scores were delivered and the service has stopped', async () => {
  await using sink = await createSink()
  const options = serverOptions(sink.url, { dataFolder: folder })
  const server = await startServer({ ...options, traces: { ...options.traces, lingerMs: 100 } })
  const marks = Array.from({ length: 20 }, mark)
  for (const text of marks) {
    for (const each of makeRun({ text }).requests) expect(await post(server.httpPort, each)).toBe(200)
  }
  expect(found(marks)).toBe(marks.length)
  const held = () => (server.counts() as { traces: { heldSpans: number } }).traces.heldSpans
  await expect.poll(held, { timeout: 10_000 }).toBe(0)
  await server.stop()
  expect(found(marks)).toBe(0)
})

it("nothing of a run is in the page's database after it was deleted", async () => {
  const database = openPageDatabase(folder)
  const reader = await RequestReader.create({ maxSpansPerRequest: 100, maxSpanBytes: 1e6 })
  let nowMs = 0
  const ingest = new Ingest(database, reader, () => nowMs)
  const store = (text: string) => {
    const { traceId, agentSpanId, spans } = makeRun({ text: `What is ${text}?` })
    const body = Buffer.from(JSON.stringify(toRequest(spans)))
    ingest.take({ kind: 'record', signal: 'traces', encoding: 'json', contentEncoding: '', body })
    const spanIds = (spans as readonly { spanId: string }[]).map(({ spanId }) => spanId)
    const revisions = { [`${traceId}:${agentSpanId}`]: 3 }
    ingest.take({ kind: 'settled', traceId, spanIds, lacksSpans: false, revisions })
  }
  const old = Array.from({ length: 50 }, mark)
  const young = Array.from({ length: 50 }, mark)
  for (const text of old) store(text)
  nowMs = 10_000
  for (const text of young) store(text)
  expect([found(old), found(young)]).toEqual([50, 50])
  const forgetting = new Forgetting(database)
  while (forgetting.step({ maxAgeMs: 5000, maxBytes: 1e12 }, nowMs));
  // The database is still open.
  expect([found(old), found(young)]).toEqual([0, 50])
  const texts = database.prepare('SELECT count(*) AS n FROM run_texts WHERE run_texts MATCH ?')
  expect([texts.get(old[0]!), texts.get(young[0]!)]).toMatchObject([{ n: 0 }, { n: 1 }])
  database.close()
})

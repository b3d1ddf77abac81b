/** `spanscore score --to` gives the scores of stored runs the ids that the service gave them. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

import { afterAll, expect, it } from 'vitest'

import { libraryNames, loadLibrary, readScenario } from '../../test/corpus/load.ts'
import { startServer } from '../src/start.ts'
import { serverOptions } from './server-options.ts'
import { createSink } from './sink.ts'
import type { Sink } from './sink.ts'
import { post } from './traces.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'spanscore-stored-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** What identifies the late spans and events of each run. */
function idsIn({ spans, logs }: Sink): readonly string[] {
  const late = spans.map(({ spanId, parentSpanId, attributes }) => ({ spanId, parentSpanId, attributes }))
  return [...late, ...logs].map(({ spanId, attributes, ...rest }) =>
    JSON.stringify([
      spanId,
      'parentSpanId' in rest ? rest.parentSpanId : 'event',
      attributes['spanscore.score.key'],
      attributes['spanscore.score.id'],
      attributes['spanscore.revision'],
    ]),
  )
}

it('for the recordings of all libraries', async () => {
  const requests = libraryNames()
    .flatMap((library) => loadLibrary(library).slice(0, 1))
    // The runs of several traces may be one, and the service joins only those that it has at the same time.
    .filter((scenario) => new Set(readScenario(scenario).spans.map(({ traceId }) => traceId)).size === 1)
    .map(({ traces }) => traces)
  const traces = join(folder, 'traces.jsonl')
  writeFileSync(traces, requests.map((request) => JSON.stringify(request)).join('\n'))
  const service = join(folder, 'service.yaml')
  writeFileSync(service, 'scorers: [{ name: run_limits, options: { maxSteps: 3 } }]')
  const config = join(folder, 'spanscore.config.mjs')
  writeFileSync(
    config,
    `import { createRunLimitsScorer } from '${root}/dist/entries/scorers.js'
export default { scorers: [createRunLimitsScorer({ maxSteps: 3 })] }\n`,
  )

  await using live = await createSink()
  const server = await startServer(serverOptions(live.url, { configPath: service }))
  for (const request of requests) expect(await post(server.httpPort, request)).toBe(200)

  await using stored = await createSink()
  const args = ['score', traces, '--config', config, '--to', stored.url]
  await promisify(execFile)(process.execPath, [join(root, 'cli/dist/main.js'), ...args])
  const found = idsIn(stored)
  expect(found.length).toBeGreaterThan(50)
  const missing = (): readonly string[] => {
    const expected = new Set(idsIn(live))
    return found.filter((each) => !expected.has(each))
  }
  await expect.poll(missing, { timeout: 30_000 }).toEqual([])
  await server.stop()
})

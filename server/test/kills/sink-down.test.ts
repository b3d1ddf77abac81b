import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { largestRssMiB } from '../../bench/process-use.ts'
import { createSink } from '../sink.ts'
import { makeRun, post, toRequest, until } from '../traces.ts'
import { startProcess } from './server-process.ts'

/** The full test has `SINK_DOWN_SECONDS=60`. */
const SECONDS = Number(process.env.SINK_DOWN_SECONDS ?? 4)

const MAX_RSS_MIB = 700

/** Number of runs in one request. Each has three spans, and as much text as a run with a document in its prompt. */
const RUNS = 40
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(60)

it(`loses nothing and stays below ${MAX_RSS_MIB} MiB while the destination is unavailable for ${SECONDS} s`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-sink-down-'))
  await using sink = await createSink()
  const server = await startProcess(['--to', sink.url, '--data', folder, '--settle', '1'])
  const taken = new Set<string>()
  const load = { isOn: true, refused: 0 }
  const sender = async (): Promise<void> => {
    while (load.isOn) {
      const runs = Array.from({ length: RUNS }, () => makeRun({ text: TEXT }))
      const body = toRequest(runs.flatMap(({ spans }) => spans))
      for (;;) {
        const status = await post(server.httpPort, body)
        if (status === 200) break
        expect(status).toBe(503)
        load.refused += 1
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      for (const { traceId } of runs) taken.add(traceId)
    }
  }
  const senders = Array.from({ length: 4 }, sender)
  await until(() => sink.logs.length > 0, 'the first scores', 30_000)
  sink.status = 0
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000))
  const awayMiB = largestRssMiB(server.child.pid ?? 0)
  const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${server.httpPort}${path}`)).status
  await expect.poll(() => statusOf('/ready'), { timeout: 30_000 }).toBe(503)
  const health = await statusOf('/health')
  load.isOn = false
  sink.status = 200
  await Promise.all(senders)
  const scored = () => new Set(sink.logs.map(({ traceId }) => traceId))
  await until(() => scored().size >= taken.size, 'a score of every run', 120_000)
  const largestMiB = largestRssMiB(server.child.pid ?? 0)
  expect(await server.stop()).toBe(0)
  rmSync(folder, { recursive: true, force: true })

  const ids = sink.logs.map((log) => log.attributes['spanscore.score.id'])
  console.info(
    `${taken.size} runs taken, away for ${SECONDS} s: lost ${taken.size - scored().size}, duplicates ${ids.length - new Set(ids).size}, ` +
      `asked to come back ${load.refused} times, largest RSS ${awayMiB} MiB while away, ${largestMiB} MiB in all`,
  )
  expect(scored()).toEqual(taken)
  expect(health).toBe(200)
  expect(largestMiB).toBeLessThan(MAX_RSS_MIB)
})

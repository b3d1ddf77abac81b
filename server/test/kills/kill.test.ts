import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { createRandom } from '../../../test/fuzz/random.ts'
import { createSink } from '../sink.ts'
import { makeRun, post, until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { startProcess } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

const KILLS = Number(process.env.KILLS ?? 20)

/** Decides when the service is killed and what is sent. It is printed, so that `KILL_SEED` can repeat a failure. */
const SEED = Number(process.env.KILL_SEED ?? randomInt(2 ** 31))

/** Maximum time from the readiness of the service to its kill, in milliseconds. It can be killed while it still reads the log. */
const MAX_LIFE_MS = 1000

/** A sender keeps requests that were not answered and sends them again. It forgets those that were answered. */
async function sendUntilAnswered(port: () => number, request: unknown): Promise<void> {
  for (;;) {
    const status = await post(port(), request).catch(() => 0)
    if (status === 200) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

it(`loses nothing and creates no false run through ${KILLS} kills under load`, async () => {
  console.info(`KILL_SEED=${SEED}`)
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-kill-'))
  await using sink = await createSink()
  const args = ['--to', sink.url, '--data', folder, '--settle', '1', '--orphans', '30']
  let server: ServerProcess = await startProcess(args)
  const ports = { http: server.httpPort, grpc: server.grpcPort }
  const sent: MadeRun[] = []
  const load = { isOn: true }
  const sender = async (_: unknown, number: number): Promise<void> => {
    // Each sender has its own random numbers, so that the order in which senders run does not matter.
    const random = createRandom(SEED + number + 1)
    while (load.isOn) {
      const run = makeRun({ toolFails: random.chance(0.3) })
      for (const request of run.requests) {
        await sendUntilAnswered(() => ports.http, request)
        if (random.chance(0.2)) await new Promise((resolve) => setTimeout(resolve, random.integer(300)))
      }
      sent.push(run)
    }
  }
  const senders = Array.from({ length: 8 }, sender)
  const random = createRandom(SEED)
  for (let kill = 0; kill < KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, random.integer(MAX_LIFE_MS)))
    await server.kill()
    server = await startProcess(args, ports)
  }
  load.isOn = false
  await Promise.all(senders)
  const runs = new Map(sent.map((run) => [`${run.traceId}:${run.agentSpanId}`, run]))
  const keyOf = (log: (typeof sink.logs)[number]) => `${log.traceId}:${log.spanId}`
  const scored = (name: string) => sink.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === name)
  await until(() => new Set(scored('tool_errors').map(keyOf)).size >= runs.size, 'a score for every run', 60_000)
  // Scores that are sent twice may still be on their way.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  await server.stop()
  rmSync(folder, { recursive: true, force: true })

  const logs = scored('tool_errors')
  const byRun = Map.groupBy(logs, keyOf)
  const lost = [...runs.keys()].filter((key) => !byRun.has(key))
  const falseRuns = [...byRun.keys()].filter((key) => !runs.has(key))
  const wrong = [...byRun].filter(([key, ofRun]) => {
    const fails = JSON.stringify(runs.get(key)?.requests).includes('boom')
    return ofRun.some(
      (log) =>
        log.attributes['spanscore.revision'] !== 3 ||
        log.attributes['gen_ai.evaluation.score.label'] !== (fails ? 'fail' : 'pass'),
    )
  })
  const differing = [...byRun.values()].filter(
    (ofRun) => new Set(ofRun.map((log) => log.attributes['spanscore.score.id'])).size > 1,
  )
  console.info(
    `${runs.size} runs, ${KILLS} kills: lost ${lost.length}, false ${falseRuns.length}, wrong ${wrong.length}, ` +
      `duplicates ${logs.length - byRun.size}, of these with other ids ${differing.length}`,
  )
  expect({ lost, falseRuns, wrong: wrong.map(([key]) => key), differing: differing.length }).toEqual({
    lost: [],
    falseRuns: [],
    wrong: [],
    differing: 0,
  })
})

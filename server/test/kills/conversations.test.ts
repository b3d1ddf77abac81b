import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { chatRequests } from '../../../test/fixtures/chat.ts'
import { createRandom } from '../../../test/fuzz/random.ts'
import { createSink } from '../sink.ts'
import { post, until } from '../traces.ts'
import { startProcess } from './server-process.ts'
import type { ServerProcess } from './server-process.ts'

const KILLS = Number(process.env.KILLS ?? 20)
const SEED = Number(process.env.KILL_SEED ?? randomInt(2 ** 31))
const MAX_LIFE_MS = 1000
const TURNS = 4

async function sendUntilAnswered(port: number, request: unknown): Promise<void> {
  while ((await post(port, request).catch(() => 0)) !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
}

it(`loses no conversation through ${KILLS} kills, and gives its last score the same ids each time`, async () => {
  console.info(`KILL_SEED=${SEED}`)
  const folder = mkdtempSync(join(tmpdir(), 'spanscore-kill-'))
  const config = join(folder, 'spanscore.yaml')
  writeFileSync(config, 'scorers: [abandoned, repeated_question, tool_errors]\n')
  await using sink = await createSink()
  const times = ['--settle', '0.5', '--idle', '12']
  const args = ['--to', sink.url, '--data', join(folder, 'data'), '--config', config, ...times]
  let server: ServerProcess = await startProcess(args)
  const ports = { http: server.httpPort, grpc: server.grpcPort }
  const sent = new Set<string>()
  const load = { isOn: true }
  const sender = async (_: unknown, number: number): Promise<void> => {
    const random = createRandom(SEED + number + 1)
    for (let chat = 0; load.isOn; chat++) {
      const id = `chat-${number}-${chat}`
      const turns = Array.from({ length: TURNS }, (_each, turn) => ({
        user: `Question ${id} ${turn}?`,
        answer: 'Yes.',
      }))
      const prefix = `c${number}${chat.toString(16).padStart(4, '0')}`
      for (const request of chatRequests(turns, { id, prefix, startMs: Date.now(), everyMs: 1000 })) {
        await sendUntilAnswered(ports.http, request)
        await new Promise((resolve) => setTimeout(resolve, random.integer(300)))
      }
      sent.add(id)
    }
  }
  const senders = Array.from({ length: 4 }, sender)
  const random = createRandom(SEED)
  for (let kill = 0; kill < KILLS; kill++) {
    await new Promise((resolve) => setTimeout(resolve, random.integer(MAX_LIFE_MS)))
    await server.kill()
    server = await startProcess(args, ports)
  }
  load.isOn = false
  await Promise.all(senders)
  const scores = () =>
    sink.logs
      .filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === 'abandoned')
      .map((log) => log.attributes)
  const whole = () => scores().filter((attributes) => attributes['spanscore.revision'] === TURNS)
  const idsOf = (all: ReturnType<typeof scores>) => new Set(all.map((attributes) => String(attributes['session.id'])))
  await until(() => [...sent].every((id) => idsOf(whole()).has(id)), 'a score of every whole conversation', 60_000)
  await server.stop()
  rmSync(folder, { recursive: true, force: true })

  console.info(`${sent.size} conversations, ${scores().length} scores`)
  expect(sent.size).toBeGreaterThan(0)
  expect(scores().filter((attributes) => attributes['spanscore.complete'] !== true)).toEqual([])
  expect(scores().filter((attributes) => Number(attributes['spanscore.revision']) > TURNS)).toEqual([])
  for (const id of sent) {
    const ofChat = scores().filter((attributes) => attributes['session.id'] === id)
    const last = ofChat.filter((attributes) => attributes['spanscore.revision'] === TURNS)
    expect(new Set(ofChat.map((attributes) => attributes['spanscore.score.key'])).size).toBe(1)
    expect(new Set(last.map((attributes) => attributes['spanscore.score.id'])).size).toBe(1)
  }
})

import { createScriptedOpenAIServer, judgeReply } from 'spanscore/testing'
import { createRubricScorer } from 'spanscore/scorers/prebuilt'
import { createOpenAI } from '@ai-sdk/openai'
import { expect, it } from 'vitest'

import { readCommit } from '../src/kafka/offset-states.ts'
import type { Commit } from '../src/kafka/offset-states.ts'
import { PartitionLog } from '../src/kafka/partition-log.ts'
import { RequestReader } from '../src/receive/read-request.ts'
import { ServiceScorer } from '../src/score/service-scorer.ts'
import { Outbox } from '../src/send/outbox.ts'
import { ServiceMeters } from '../src/send/service-meters.ts'
import { Service } from '../src/service.ts'
import { HeldTraces } from '../src/traces/held-traces.ts'
import { BUFFER_OPTIONS } from './buffer-options.ts'
import { makeRun } from './traces.ts'

const TOPIC = 'spans'

const nowMs = () => performance.now()

const report = (line: string) => expect.unreachable(line)

/** The messages of two runs on a partition, and owners of it with one judge, which answers when the test opens the door. */
async function setUp() {
  const door = Promise.withResolvers<void>()
  const server = await createScriptedOpenAIServer(async () => {
    await door.promise
    return { text: judgeReply({ verdicts: { polite: 'pass' } }) }
  })
  const model = createOpenAI({ baseURL: server.url, apiKey: 'scripted' }).chat('gpt-5-mini')
  const bodies = [makeRun(), makeRun()].flatMap(({ requests }) =>
    requests.map((request) => Buffer.from(JSON.stringify(request))),
  )
  const reader = await RequestReader.create({ maxSpansPerRequest: 100, maxSpanBytes: 1e6 })
  const delivered: number[] = []

  /** @param commit the one of the last owner */
  const own = (commit: Commit) => {
    const exporter = {
      send: (records: readonly unknown[]) => {
        delivered.push(records.length)
        return Promise.resolve({ status: 'acknowledged' } as const)
      },
      shutdown: () => Promise.resolve(),
    }
    const log = new PartitionLog(new Map([[TOPIC, commit]]), nowMs)
    const scorer = new ServiceScorer({
      options: {
        scorers: [createRubricScorer({ model, criteria: [{ id: 'polite', question: 'Is the answer polite?' }] })],
        concurrency: 1,
      },
      meters: new ServiceMeters('an instance', undefined),
    })
    const outbox = new Outbox({ logs: exporter, spans: exporter, report, now: nowMs })
    const buffer = new HeldTraces({ ...BUFFER_OPTIONS, settleMs: 50 })
    const service = new Service({ log, reader, buffer, scorer, outbox, take: () => scorer.take(), report, nowMs })
    service.start()
    for (const [position, body] of bodies.entries()) {
      if (log.stateBefore(TOPIC, position) === 'finished') continue
      const { decoded } = reader.read(body, 'json')
      log.receive(TOPIC, position, { signal: 'traces', encoding: 'json', contentEncoding: '', body, decoded })
    }
    const states = () => {
      const { offset, metadata } = log.commits().get(TOPIC)!
      const { stateOf } = readCommit({ offset, metadata })
      return bodies.map((_, position) => stateOf(position))
    }
    const ledger = () => scorer.ledger().scorers['rubric']
    return { log, service, scorer, outbox, states, ledger, commit: () => log.commits().get(TOPIC)! }
  }
  return { server, door, delivered, own, [Symbol.asyncDispose]: () => server.close() }
}

const NOTHING: Commit = { offset: 0, metadata: '' }

it('runs whose judges have not answered are open in the commit, and the next owner of the partition asks about them', async () => {
  await using all = await setUp()
  const { server, door, delivered, own } = all
  const first = own(NOTHING)
  await expect.poll(() => server.requests.length).toBe(1)
  await expect.poll(() => first.service.scoring).toBe(2)
  expect(first.states()).toEqual(Array.from({ length: 6 }, () => 'open'))
  first.service.release()
  await expect.poll(() => first.service.scoring).toBe(0)
  expect(delivered).toEqual([])
  expect(first.ledger()).toMatchObject({ offered: 0, pending: 0 })

  const second = own(first.commit())
  door.resolve()
  await expect.poll(() => second.states()).toEqual(Array.from({ length: 6 }, () => 'emitted'))
  expect(second.ledger()).toMatchObject({ offered: 2, scored: 2 })
  expect(server.requests).toHaveLength(3)
  second.service.release()
})

it('an owner that ends waits for the judge that it has asked, and leaves the other run', async () => {
  await using all = await setUp()
  const { server, door, own } = all
  const { service, scorer, states, ledger } = own(NOTHING)
  await expect.poll(() => server.requests.length).toBe(1)
  await expect.poll(() => ledger()).toMatchObject({ offered: 2, pending: 2 })
  await expect.poll(() => scorer.queued).toBe(1)
  service.pause()
  scorer.leaveUnasked()
  door.resolve()
  await expect.poll(() => service.scoring).toBe(0)
  await expect.poll(() => states().toSorted()).toEqual(['emitted', 'emitted', 'emitted', 'open', 'open', 'open'])
  expect(ledger()).toMatchObject({ offered: 1, scored: 1, pending: 0 })
  service.release()
  expect(server.requests).toHaveLength(1)
})

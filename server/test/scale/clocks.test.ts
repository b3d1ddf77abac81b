/** Senders with wrong clocks, and runs that are open for much longer than others. */
import { buildRuns, readOtlpJson } from 'spanscore/engine'
import { afterAll, describe, expect, it } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { makeRun, shifted, toRequest, until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { Sender } from './sender.ts'
import { sharedKafka } from './shared-broker.ts'
import { APPEND_TIME, topicsOf, workerOptions } from './worker-options.ts'

const kafka = sharedKafka()

afterAll(async () => {
  await kafka.close()
})

async function createTopics(name: string): Promise<Sender> {
  const { spans, logs, dead } = topicsOf(name)
  await kafka.createTopics({ [spans]: APPEND_TIME, [logs]: APPEND_TIME, [dead]: {} }, 1)
  return new Sender(kafka.brokers, spans)
}

const MINUTES_5 = 300_000

const scoresIn = (sink: Sink) => sink.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'tool_errors')

/** The part of a score that must not depend on the worker. */
const essence = (log: Sink['logs'][number]) => ({
  key: log.attributes['spanscore.score.key'],
  id: log.attributes['spanscore.score.id'],
  label: log.attributes['gen_ai.evaluation.score.label'],
  revision: log.attributes['spanscore.revision'],
})

describe('a worker', () => {
  it('makes the same runs for senders and Collectors whose clocks are five minutes fast or slow', async () => {
    const runs = Array.from({ length: 60 }, (_, index) => makeRun({ toolFails: index % 3 === 0 }))
    const essences: unknown[] = []
    // All clocks are right. Then each sender is wrong in its own direction. Then the tool ends after its agent, by their clocks.
    const clocks: readonly (readonly [number, number, number])[] = [
      [0, 0, 0],
      [-MINUTES_5, MINUTES_5, 0],
      [MINUTES_5, -MINUTES_5, -MINUTES_5],
    ]
    for (const [index, offsets] of clocks.entries()) {
      const name = `clocks-${index}`
      const sender = await createTopics(name)
      await using sink = await createSink()
      const worker = await startWorker(workerOptions(kafka.brokers, name, sink.url))
      for (const place of [0, 1, 2]) {
        const services = ['model-service', 'tool-service', 'agent-service']
        await sender.send(
          runs.map(({ traceId, spans }) => ({
            traceId,
            request: toRequest([shifted(spans[place], offsets[place] ?? 0)], services[place]),
          })),
        )
      }
      await until(() => scoresIn(sink).length >= runs.length, 'scores', 60_000)
      await worker.stop()
      await sender.close()
      essences.push(
        scoresIn(sink)
          .map(essence)
          .toSorted((left, right) => (String(left.key) < String(right.key) ? -1 : 1)),
      )
    }
    expect(essences[0]).toHaveLength(runs.length)
    expect(essences[1]).toEqual(essences[0])
    expect(essences[2]).toEqual(essences[0])
  })

  it('keeps lag and replay bounded behind a run that is open for an hour', async () => {
    const sender = await createTopics('hour')
    await using sink = await createSink()
    // Three seconds represent an hour here. At that age, a message that holds back the commit is appended again.
    const options = workerOptions(kafka.brokers, 'hour', sink.url, {
      carryAfterMs: 3000,
      traces: { ...workerOptions([], '', '').traces, settleMs: 1000, lingerMs: 500, orphanMs: 600_000 },
    })
    const worker = await startWorker(options)
    const [open] = [makeRun({ toolFails: true })]
    const sendPlaces = (runs: readonly MadeRun[], places: readonly number[]) =>
      sender.send(
        runs.flatMap((run) => places.map((place) => ({ traceId: run.traceId, request: run.requests[place] }))),
      )
    await sendPlaces([open], [0])
    let sent = 1
    const behind: number[] = []
    const startMs = performance.now()
    // Four "hours" of traffic follow it.
    while (performance.now() - startMs < 12_000) {
      await sendPlaces(
        Array.from({ length: 20 }, () => makeRun()),
        [0, 1, 2],
      )
      sent += 60
      await new Promise((resolve) => setTimeout(resolve, 200))
      const [group] = await kafka.admin.listConsumerGroupOffsets({ groups: ['hour'] })
      const committed = group?.topics.find(({ name }) => name === 'hour.spans')?.partitions[0]?.committedOffset ?? 0n
      behind.push(sent - Number(committed))
    }
    const counts = () => worker.counts() as { worker: { carried: number; lag: number } }
    expect(counts().worker.carried).toBeGreaterThanOrEqual(2)
    // A new owner would read only a few seconds of the traffic, and this amount does not grow.
    const half = behind.length >> 1
    expect(Math.max(...behind.slice(half))).toBeLessThan(sent * 0.75)
    expect(behind.at(-1)).toBeLessThan(sent * 0.6)
    await worker.stop()

    // A new owner reads what is left, and the run is complete with its last span.
    const before = sink.logs.length
    const next = await startWorker(options)
    await sendPlaces([open], [1, 2])
    await until(
      () => scoresIn(sink).some(({ traceId }) => traceId === open.traceId),
      'the score of the open run',
      60_000,
    )
    const read = (next.counts() as { worker: { messages: number } }).worker.messages
    expect(read).toBeLessThan(sent * 0.75)
    await next.stop()
    await sender.close()
    const ofOpen = scoresIn(sink).filter(({ traceId }) => traceId === open.traceId)
    expect(ofOpen.map(essence)).toMatchObject([{ label: 'fail', revision: 3 }])
    // No other run was scored again.
    const others = sink.logs.slice(before).filter(({ traceId }) => traceId !== open.traceId)
    expect(new Set(sink.logs.map((log) => log.attributes['spanscore.score.id'])).size).toBe(sink.logs.length)
    expect(others.every(({ traceId }) => !sink.logs.slice(0, before).some((log) => log.traceId === traceId))).toBe(true)
    const [whole] = buildRuns(readOtlpJson(toRequest(open.spans))?.spans ?? [])
    expect(ofOpen[0]?.spanId).toBe(whole?.spanId)
  })
})

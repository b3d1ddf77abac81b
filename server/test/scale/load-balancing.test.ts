/** A Collector distributes traces over two services by trace id, without a broker. */
import { afterAll, beforeAll, expect, it } from 'vitest'

import { startServer } from '../../src/start.ts'
import type { RunningServer } from '../../src/start.ts'
import { serverOptions } from '../server-options.ts'
import { createSink } from '../sink.ts'
import type { Sink } from '../sink.ts'
import { makeRun, toRequest, until } from '../traces.ts'
import { startBalancer } from './collector.ts'
import type { KafkaCollector } from './collector.ts'
import { runOf } from './comparison.ts'
import { CONTENT_CONFIG, scorerOf } from './expected-scores.ts'
import { sendRecorded } from './traffic.ts'
import { keyOf, Truth } from './truth.ts'

const sinks: Sink[] = []
const services: RunningServer[] = []
let collector: KafkaCollector

beforeAll(async () => {
  for (const _ of [0, 1]) {
    const sink = await createSink()
    sinks.push(sink)
    services.push(
      // A span waits for its parent for longer than a busy machine may need to deliver it.
      await startServer(
        serverOptions(sink.url, {
          configPath: CONTENT_CONFIG,
          traces: { ...serverOptions('').traces, settleMs: 3000, orphanMs: 60_000 },
        }),
      ),
    )
  }
  const [first, second] = services.map(({ grpcPort }) => `127.0.0.1:${grpcPort}`)
  collector = await startBalancer([first ?? '', second ?? ''])
})

afterAll(async () => {
  await collector.close()
  for (const service of services) await service.stop()
  for (const sink of sinks) await sink[Symbol.asyncDispose]()
})

it('keeps runs together, with or without their log records, and uses both services', async () => {
  const truth = new Truth()
  const withoutLogs = new Truth()
  const runs = Array.from({ length: 200 }, (_, index) => makeRun({ toolFails: index % 3 === 0 }))
  for (const run of runs) truth.note(toRequest(run.spans))
  for (const place of [0, 1, 2]) await collector.send(toRequest(runs.map((run) => run.spans[place])))
  const note: Truth['note'] = (traces, logs) => {
    withoutLogs.note(traces)
    return truth.note(traces, logs)
  }
  await sendRecorded(collector, { note }, 10)
  const keys = () => new Set(sinks.flatMap(({ logs }) => logs.map(keyOf)))
  const hasAll = () => {
    const scored = keys()
    return [...truth.keys()].every((key) => scored.has(key))
  }
  await until(hasAll, 'a score for every run', 120_000)
  const events = Map.groupBy(
    sinks.flatMap(({ logs }) => logs),
    keyOf,
  )
  const spans = Map.groupBy(
    sinks.flatMap((sink) => sink.spans),
    runOf,
  )
  const wrong: string[] = []
  for (const key of new Set([...events.keys(), ...spans.keys()])) {
    const delivered = { spans: spans.get(key) ?? [], events: events.get(key) ?? [] }
    const differences = await truth.differences(key, delivered)
    // Collector 0.158 hashes the trace id of log records as text and that of spans as bytes, so their services may differ.
    if (differences.length > 0 && withoutLogs.has(key)) wrong.push(...(await withoutLogs.differences(key, delivered)))
    else wrong.push(...differences)
    if (new Set(delivered.spans.map(scorerOf)).size < delivered.spans.length) wrong.push(`${key}: came twice`)
  }
  expect(wrong).toEqual([])
  for (const sink of sinks) expect(new Set(sink.logs.map(keyOf)).size).toBeGreaterThan(truth.size / 4)
})

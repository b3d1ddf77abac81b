/** Partitions whose states need more room in a commit than brokers give by default. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startWorker } from '../../src/start-worker.ts'
import type { RunningWorker } from '../../src/worker-process.ts'
import { until } from '../traces.ts'
import type { MadeRun } from '../traces.ts'
import { startKafka } from './kafka-cluster.ts'
import type { KafkaCluster } from './kafka-cluster.ts'
import { makeRuns, WorkerBench } from './worker-bench.ts'
import { topicsOf, workerOptions } from './worker-options.ts'

const ROOM = 32_000
const ROUNDS = 60
const EACH = 250

const { traces } = workerOptions([], '', '')
/** Open runs stay open, and scored ones wait for late spans. */
const waits = { ...traces, settleMs: 2000, orphanMs: 300_000, lingerMs: 600_000 }

let kafka: KafkaCluster
let bench: WorkerBench
const whole: MadeRun[] = []
const open: MadeRun[] = []

beforeAll(async () => {
  kafka = await startKafka(1, { lines: [`offset.metadata.max.bytes=${ROOM}`] })
  bench = await WorkerBench.create(kafka, 'large')
})

afterAll(async () => {
  await bench[Symbol.asyncDispose]()
  await kafka.close()
})

function countsOf(worker: RunningWorker): { worker: { carried: number; oversizedCommits: number } } {
  return JSON.parse(JSON.stringify(worker.counts()))
}

async function metadataLength(): Promise<number> {
  const [group] = await kafka.admin.listConsumerGroupOffsets({ groups: ['large'] })
  const topic = group?.topics.find(({ name }) => name === topicsOf('large').spans)
  return topic?.partitions[0]?.metadata?.length ?? 0
}

describe('a partition of which scored and open runs alternate without a pattern', () => {
  it('is committed in more than 4,096 bytes, if brokers and --max-commit allow it', async () => {
    const options = bench.options({ traces: waits, maxCommitBytes: ROOM })
    const worker = await startWorker(options)
    for (let round = 0; round < ROUNDS; round++) {
      const [ofWhole, ofOpen] = [makeRuns(EACH), makeRuns(EACH)]
      const mixed = [...ofWhole.map((run) => [run, 2] as const), ...ofOpen.map((run) => [run, 0] as const)]
      const shuffled = mixed.toSorted(() => Math.random() - 0.5)
      await bench.sender.send(shuffled.map(([run, place]) => ({ traceId: run.traceId, request: run.requests[place] })))
      whole.push(...ofWhole)
      open.push(...ofOpen)
    }
    // The outermost span alone is a run that no scorer of tools applies to.
    const complete = () =>
      bench.sink.logs.filter((log) => log.attributes['gen_ai.evaluation.name'] === 'answer_present')
    await until(() => complete().length === whole.length, 'scores of the complete runs', 240_000)
    await expect.poll(metadataLength, { timeout: 30_000 }).toBeGreaterThan(4096)
    await worker.stop()
    expect(countsOf(worker).worker).toMatchObject({ carried: 0, oversizedCommits: 0 })
    // A new owner knows which runs were scored.
    const next = await startWorker(options)
    const [run] = open
    await bench.send([run!], [1, 2])
    await until(() => bench.hasScored([run!]), 'the score of an open run', 60_000)
    await next.stop()
    expect(complete()).toHaveLength(whole.length + 1)
  })

  it('is named at readiness if its states do not fit, and is scored nevertheless', async () => {
    const worker = await startWorker(bench.options({ traces: waits, groupId: 'small' }))
    const answer = async () => {
      const response = await fetch(`http://127.0.0.1:${worker.httpPort}/ready`)
      return [response.status, await response.text()]
    }
    await expect
      .poll(answer, { timeout: 120_000 })
      .toEqual([503, expect.stringMatching(/The states of partition 0 do not fit into a commit/)])
    expect(countsOf(worker).worker.oversizedCommits).toBeGreaterThan(0)
    const [, run] = open
    await bench.send([run!], [1, 2])
    await until(() => bench.hasScored([run!]), 'the score of an open run', 60_000)
    await worker.stop(2000)
  })
})

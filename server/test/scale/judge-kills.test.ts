/** Judge workers on a real broker, which remember what was asked and spent through kills and hand-overs. */
import { describe, expect, it } from 'vitest'

import { startJudgeWorker } from '../../src/start-judge-worker.ts'
import { createSink } from '../sink.ts'
import { until } from '../traces.ts'
import {
  CONCURRENCY,
  countsOf,
  judgedIn,
  makeRuns,
  polite,
  townsOf,
  untilScoredByCode,
  useJudgeBench,
} from './judge-bench.ts'
import { emptyPanels, isOnJudges, startPrometheus } from './prometheus.ts'
import { Sender } from './sender.ts'
import { startWorkerProcess } from './worker-process.ts'

const JOBS = Number(process.env['JOBS'] ?? 1000)
const JOBS_PER_SECOND = Number(process.env['JOBS_PER_SECOND'] ?? 10)

const bench = useJudgeBench()

describe('judge workers', () => {
  it(`ask about each of ${JOBS} runs once, while one of them is killed, one joins, and one is asked to end`, async () => {
    await bench.createTopics('spanscore', 3)
    await using prometheus = await startPrometheus()
    await using sink = await createSink({ metricsTo: prometheus.metricsUrl })
    let answered = 0
    bench.answer = (request) => {
      answered += 1
      return polite(request, { delayMs: 100 + (answered % 7) * 60 })
    }
    const args = ['--to', sink.url, '--brokers', bench.kafka.brokers.join(','), '--config', bench.configure('whole')]
    const waits = '--settle 1 --session-timeout 4'.split(' ')
    const worker = await startWorkerProcess([...args, ...waits, '--judge-jobs'])
    const startJudge = () => startWorkerProcess([...args, ...waits, '--role', 'judge'])
    const judges = [await startJudge(), await startJudge()]
    const runs = makeRuns(JOBS)
    const asked = bench.requests.length
    const sender = new Sender(bench.kafka.brokers, 'spanscore.spans')
    const startMs = performance.now()
    let inFlight = 0
    const steps = new Map([
      [
        Math.floor(JOBS * 0.4),
        async () => {
          await judges[0]?.kill()
          const done = await bench.jobsDone('spanscore')
          inFlight = bench.requests.length - asked - done
        },
      ],
      [
        Math.floor(JOBS * 0.6),
        async () => {
          judges[0] = await startJudge()
        },
      ],
      [
        Math.floor(JOBS * 0.8),
        async () => {
          expect(await judges[1]?.stop()).toBe(0)
        },
      ],
    ])
    const doing: Promise<void>[] = []
    for (const [index, run] of runs.entries()) {
      const step = steps.get(index)
      if (step !== undefined) doing.push(step())
      for (const place of [0, 1, 2]) await sender.send([{ traceId: run.traceId, request: run.requests[place] }])
      const aheadMs = startMs + ((index + 1) / JOBS_PER_SECOND) * 1000 - performance.now()
      if (aheadMs > 0) await new Promise((resolve) => setTimeout(resolve, aheadMs))
    }
    const perSecond = JOBS / ((performance.now() - startMs) / 1000)
    await Promise.all(doing)
    const keys = () => new Set(judgedIn(sink).map(({ traceId }) => traceId))
    await until(() => keys().size >= JOBS, 'a score of the judge for every run', 120_000)
    await sender.close()
    expect(await judges[0]?.stop()).toBe(0)
    expect(await worker.stop()).toBe(0)

    const calls = townsOf(bench.requests.slice(asked))
    const distinct = new Set(calls)
    const scores = judgedIn(sink)
    const ids = Map.groupBy(scores, ({ attributes }) => attributes['spanscore.score.id'])
    console.info(
      `${JOBS} jobs at ${perSecond.toFixed(1)}/s: ${calls.length} calls for ${distinct.size} runs, ` +
        `${inFlight} in flight at the kill, ${scores.length} scores with ${ids.size} ids`,
    )
    expect([...keys()].toSorted()).toEqual(runs.map(({ traceId }) => traceId).toSorted())
    expect(distinct.size).toBe(JOBS)
    // Only the jobs that were in flight when one was killed are asked again.
    expect(calls.length).toBeLessThanOrEqual(distinct.size + inFlight)
    expect(inFlight).toBeLessThanOrEqual(judges.length * 2 * CONCURRENCY)
    expect(ids.size).toBe(JOBS)
    for (const { attributes } of scores) {
      expect(attributes['gen_ai.evaluation.score.value']).toBe(1)
      expect(attributes['spanscore.revision']).toBe(3)
      expect(attributes['spanscore.probability']).toBe(1)
    }
    // The scores of code scorers come from the worker, and each is there once.
    expect(sink.logs.length - scores.length).toBe(JOBS)
    // Every process has sent its counts before it ended.
    expect(await emptyPanels(prometheus, isOnJudges)).toEqual([])
  })

  it('continue from the earlier spending, after a kill and with other owners of the partitions', async () => {
    await bench.createTopics('spent', 2)
    await using sink = await createSink()
    const usage = { inputTokens: 1200, outputTokens: 1000 }
    bench.answer = (request) => polite(request, { usage, delayMs: 20 })
    const costs = () => judgedIn(sink).map(({ attributes }) => Number(attributes['spanscore.judge.cost_usd']))
    // A score takes about a quarter of a cent: the budget is for some forty.
    const budget = 0.1
    const config = bench.configure('spent', { usdPerDay: budget })
    const worker = await bench.writeJobs('spent', sink, config, makeRuns(100))
    const args = ['--to', sink.url, '--brokers', bench.kafka.brokers.join(','), '--config', config]
    const role = '--role judge --session-timeout 4 --group spent --topic-prefix spent'.split(' ')
    const first = await startWorkerProcess([...args, ...role])
    const isDone = async () => {
      const committed = [...(await bench.kafka.lagOf('spent.judges', 'spent.jobs')).matchAll(/(\d+) of (\d+)/g)]
      return committed.length === 2 && committed.every(([, done, end]) => done === end)
    }
    const untilDone = async () => {
      const endMs = performance.now() + 60_000
      while (!(await isDone())) {
        if (performance.now() > endMs)
          throw new Error(`Waited for ${await bench.kafka.lagOf('spent.judges', 'spent.jobs')}.`)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    await untilDone()
    await first.kill()
    const before = new Set(judgedIn(sink).map(({ traceId }) => traceId)).size
    const second = await startWorkerProcess([...args, ...role])
    const third = await startWorkerProcess([...args, ...role])
    const more = makeRuns(100)
    await bench.send('spent', more)
    await untilScoredByCode(sink, more)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await untilDone()
    await Promise.all([second.stop(), third.stop(), worker.stop()])
    const spent = costs().reduce((sum, cost) => sum + cost, 0)
    const after = costs().length - before
    console.info(`${before} scores before, ${after} after: ${spent.toFixed(4)} of ${budget} US dollars`)
    expect(before).toBeGreaterThan(10)
    // Without the record of earlier spending, as many would be asked again.
    expect(after).toBeLessThan(before / 2)
    expect(spent).toBeLessThanOrEqual(budget)
  })

  it('abort slow jobs when their partition moves, and leave them to the next owner', async () => {
    await bench.createTopics('moved', 4)
    await using sink = await createSink()
    const asked = bench.requests.length
    // The first jobs come from the partition that was read first, and later ones from all partitions in turn. They take longer
    // than a rebalance of the group waits for them.
    bench.answer = (request) => polite(request, { delayMs: request.index - asked < CONCURRENCY ? 50 : 6000 })
    const config = bench.configure('moved')
    const worker = await bench.writeJobs('moved', sink, config, makeRuns(40))
    const first = await startJudgeWorker(bench.options('moved', sink.url, config))
    await until(() => bench.requests.length - asked === 2 * CONCURRENCY, 'judges that are asked', 30_000)
    const second = await startJudgeWorker(bench.options('moved', sink.url, config))
    await until(() => judgedIn(sink).length >= 40, 'all scores', 120_000)
    const abandoned = Number(countsOf(first).judge['abandoned'])
    await Promise.all([first.stop(), second.stop(), worker.stop()])
    const calls = townsOf(bench.requests.slice(asked))
    console.info(`${calls.length} calls for ${new Set(calls).size} runs, ${abandoned} left to the next owner`)
    expect(abandoned).toBeGreaterThan(0)
    expect(calls.length - new Set(calls).size).toBeLessThanOrEqual(abandoned)
    expect(Number(countsOf(second).judge['asked'])).toBeGreaterThan(0)
    // Aborted jobs gave no score, so each score is there once.
    expect(judgedIn(sink)).toHaveLength(40)
  })
})

/** What the topic of jobs contains, and which of its jobs judge workers ask about. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { Consumer, Producer } from '@platformatic/kafka'
import { describe, expect, it } from 'vitest'

import { startJudgeWorker } from '../../src/start-judge-worker.ts'
import { createSink } from '../sink.ts'
import { makeRun, until } from '../traces.ts'
import {
  countsOf,
  judgedIn,
  jobsTopic,
  lateSpansIn,
  makeRuns,
  polite,
  untilScoredByCode,
  useJudgeBench,
} from './judge-bench.ts'

const bench = useJudgeBench()

describe('judge workers', () => {
  it('give a reason for each job whose judge they do not ask, and move other messages to the dead-letter topic', async () => {
    await bench.createTopics('unasked', 1)
    await using sink = await createSink()
    bench.answer = (request) => polite(request)
    const asked = bench.requests.length
    const config = bench.configure('unasked')
    const worker = await bench.writeJobs('unasked', sink, config, makeRuns(20))
    const other = bench.configure('other', { question: 'Is the answer short?' })
    const producer = new Producer({ clientId: 'test', bootstrapBrokers: [...bench.kafka.brokers] })
    await producer.send({ messages: [{ topic: jobsTopic('unasked'), value: Buffer.from('no job') }] })
    await producer.close()
    const lines: string[] = []
    const options = bench.options('unasked', sink.url, other, { report: (line) => lines.push(line) })
    const differing = await startJudgeWorker(options)
    await until(() => lateSpansIn(sink).length >= 20, 'a reason for each', 30_000)
    await until(() => countsOf(differing).judge['dead'] === 1, 'the dead letter', 30_000)
    expect(countsOf(differing).judge).toMatchObject({ unasked: { 'unknown-version': 20 }, asked: 0 })
    expect(lines.filter((line) => line.includes('another configuration'))).toHaveLength(1)
    await differing.stop()
    const reasons = () => lateSpansIn(sink).map(({ attributes }) => attributes['spanscore.rubric.status_reason'])
    expect(new Set(reasons())).toEqual(new Set(['judge-unavailable']))

    const more = makeRuns(20)
    await bench.send('unasked', more)
    await untilScoredByCode(sink, more)
    const late = await startJudgeWorker(bench.options('unasked', sink.url, config, { maxJobAgeMs: 0 }))
    await until(() => lateSpansIn(sink).length >= 40, 'a reason for each of them', 30_000)
    expect(countsOf(late).judge).toMatchObject({ unasked: { expired: 20 }, asked: 0 })
    expect(reasons().filter((reason) => reason === 'expired')).toHaveLength(20)
    await Promise.all([late.stop(), worker.stop()])
    expect(bench.requests.length).toBe(asked)
    expect(await bench.kafka.endOf('unasked.dead')).toBe(1)
  })

  it('ask once about a job that is on the topic twice, also after a restart', async () => {
    await bench.createTopics('twice', 1)
    await using sink = await createSink()
    bench.answer = (request) => polite(request)
    const asked = bench.requests.length
    const config = bench.configure('twice')
    const worker = await bench.writeJobs('twice', sink, config, makeRuns(30))
    await worker.stop()
    // A worker that was killed before its commit writes the same jobs again. To simulate this, its group starts from the beginning.
    const again = await bench.startWriter('twice', sink, config, { groupId: 'twice-again' })
    const first = await startJudgeWorker(bench.options('twice', sink.url, config))
    await until(() => judgedIn(sink).length >= 30, 'all scores', 60_000)
    await until(() => countsOf(again).jobs['written'] === 30, 'the same jobs', 60_000)
    await until(() => countsOf(first).judge['duplicates'] === 30, 'the same jobs, read', 60_000)
    await Promise.all([first.stop(), again.stop()])
    const third = await bench.startWriter('twice', sink, config, { groupId: 'twice-once-more' })
    const second = await startJudgeWorker(bench.options('twice', sink.url, config))
    await until(() => countsOf(second).judge['duplicates'] === 30, 'the same jobs after a restart', 60_000)
    await Promise.all([second.stop(), third.stop()])
    expect(bench.requests.length - asked).toBe(30)
    expect(judgedIn(sink)).toHaveLength(30)
  })

  it('get no job for a run that is larger than the largest message: the worker reports that, and continues', async () => {
    await bench.createTopics('large', 1, { 'max.message.bytes': '1000000' })
    await using sink = await createSink()
    bench.answer = (request) => polite(request)
    const config = bench.configure('large')
    const [small] = makeRuns(1)
    const large = makeRun({ text: `Weather? ${'rain '.repeat(140_000)}` })
    const worker = await bench.writeJobs('large', sink, config, [large, small!])
    const asking = await startJudgeWorker(bench.options('large', sink.url, config))
    await until(() => judgedIn(sink).length === 1, 'the score of the small one', 30_000)
    expect(judgedIn(sink)[0]?.traceId).toBe(small?.traceId)
    expect(countsOf(worker).jobs).toMatchObject({ written: 1, tooLarge: 1 })
    expect(worker.counts()).toMatchObject({ ledger: { scorers: { rubric: { skipped: 1, reasons: { refused: 1 } } } } })
    await Promise.all([asking.stop(), worker.stop()])
  })

  it('find only the redacted run on the topic', async () => {
    await bench.createTopics('redacted', 1)
    await using sink = await createSink()
    bench.answer = (request) => polite(request)
    const asked = bench.requests.length
    const config = join(bench.folder, 'redacted.mjs')
    writeFileSync(
      config,
      `import { defineConfig } from 'spanscore'
import { createRubricScorer, createToolErrorsScorer } from 'spanscore/scorers/prebuilt'
const criteria = [{ id: 'polite', question: 'Is the answer polite?' }]
export default defineConfig({
  scorers: [createRubricScorer({ model: 'openai/gpt-5-mini', criteria }), createToolErrorsScorer()],
  redact: (run) => JSON.parse(JSON.stringify(run).replaceAll('Ada Lovelace', 'somebody')),
})
`,
    )
    const worker = await bench.writeJobs('redacted', sink, config, [makeRun({ text: 'Weather for Ada Lovelace?' })])
    const consumer = new Consumer({ clientId: 'test', groupId: 'reader', bootstrapBrokers: [...bench.kafka.brokers] })
    const stream = await consumer.consume({ topics: [jobsTopic('redacted')], mode: 'earliest' })
    let text = ''
    for await (const { value } of stream) {
      text = value.toString()
      break
    }
    await consumer.close(true)
    expect(text).toContain('Weather for somebody?')
    expect(text).not.toContain('Ada')
    const asking = await startJudgeWorker(bench.options('redacted', sink.url, config))
    await until(() => judgedIn(sink).length === 1, 'the score', 30_000)
    expect(bench.requests[asked]?.userText).toContain('Weather for somebody?')
    await Promise.all([asking.stop(), worker.stop()])
  })

  it('need their topic, a judge, and its key', async () => {
    const config = bench.configure('needs')
    await expect(startJudgeWorker(bench.options('nowhere', 'http://127.0.0.1:9', config))).rejects.toThrow(
      'Expected the topics nowhere.jobs, nowhere.dead, found no nowhere.jobs, nowhere.dead.',
    )
    await bench.createTopics('compact', 1, { 'cleanup.policy': 'compact' })
    await expect(startJudgeWorker(bench.options('compact', 'http://127.0.0.1:9', config))).rejects.toThrow(
      'Expected cleanup.policy=delete of the topic compact.jobs, got compact',
    )
    await bench.createTopics('small-jobs', 1, { 'max.message.bytes': '260000' })
    await expect(startJudgeWorker(bench.options('small-jobs', 'http://127.0.0.1:9', config))).rejects.toThrow(
      'Expected max.message.bytes=1000000 or more of the topic small-jobs.jobs, got 260000',
    )
    const path = join(bench.folder, 'code.yaml')
    writeFileSync(path, 'scorers: [tool_errors]')
    await expect(startJudgeWorker(bench.options('compact', 'http://127.0.0.1:9', path))).rejects.toThrow(
      'expected a configuration with judges, got none in it',
    )
    const key = process.env['OPENAI_API_KEY']
    delete process.env['OPENAI_API_KEY']
    try {
      await expect(startJudgeWorker(bench.options('compact', 'http://127.0.0.1:9', config))).rejects.toThrow(
        /OPENAI_API_KEY/,
      )
    } finally {
      process.env['OPENAI_API_KEY'] = key
    }
  })
})

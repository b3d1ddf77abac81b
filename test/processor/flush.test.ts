import { logs, metrics, trace } from '@opentelemetry/api'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { BatchLogRecordProcessor } from '@opentelemetry/sdk-logs'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createOtlpReceiver } from '../../src/testing/otlp-receiver.ts'
import { codeScorer, createPipeline, expectBalanced, judgeScorer, runAgent } from './harness.ts'

test('one flush of the tracer provider delivers the late span, the event and the metric of a judge under way, beside', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: [judgeScorer('fitting')] })
  const { receiver, tracer, provider } = await createPipeline({ processors: (batch) => [scoring, batch] })
  runAgent(tracer)
  // Nothing else is flushed: what the flush produces must not remain in any queue.
  await provider.forceFlush()
  expect(receiver.spans.map(({ name }) => name)).toContain('evaluate fitting')
  expect(receiver.logs.map(({ eventName }) => eventName)).toEqual(['gen_ai.evaluation.result'])
  expect(receiver.metrics.map(({ name }) => name)).toContain('spanscore.score')
  expectBalanced(scoring.ledger())
})

test('one flush delivers the scored span, the event and the metric, in front', async () => {
  const { receiver, tracer, provider } = await createPipeline({
    processors: (batch) => [new ScoringSpanProcessor({ scorers: [judgeScorer('fitting')], next: batch })],
  })
  runAgent(tracer)
  await provider.forceFlush()
  expect(receiver.spans.at(-1)?.attributes).toHaveProperty('spanscore.fitting.score', 0.75)
  expect(receiver.logs).toHaveLength(1)
  expect(receiver.metrics.map(({ name }) => name)).toContain('spanscore.score')
})

/** As a provider of SDK 2.12 that was made with `forceFlushTimeoutMillis`, which waits for half a second. */
class ImpatientProvider extends TracerProvider {
  readonly ['_forceFlushTimeoutMillis'] = 500

  override forceFlush(): Promise<void> {
    return super.forceFlush({ timeoutMillis: 500 })
  }
}

test('a flush of a provider that waits for half a second does not reject, and slow scores come later', async () => {
  const answers: (() => void)[] = []
  const answered = new Promise<void>((resolve) => answers.push(resolve))
  const slow = judgeScorer('slow', { assess: async () => (await answered, { status: 'scored', value: 0.5 }) as never })
  const { receiver, tracer, provider } = await createPipeline({
    processors: (batch) => [batch],
    Provider: ImpatientProvider,
  })
  const scoring = attachScoring({ scorers: [slow] })
  runAgent(tracer)
  await provider.forceFlush()
  expect(receiver.spans.map(({ name }) => name)).toContain('invoke_agent weather-agent')
  expect(scoring.ledger().scorers['slow']).toMatchObject({ offered: 1, pending: 1 })
  answers[0]?.()
  // What the application awaits itself is not cut short.
  await scoring.forceFlush()
  expect(receiver.spans.map(({ name }) => name)).toContain('evaluate slow')
  expectBalanced(scoring.ledger())
})

test('flushes that begin while another waits for a judge deliver the runs that ended before each', async () => {
  const answers: (() => void)[] = []
  const slow = judgeScorer('slow', {
    assess: async () =>
      (await new Promise<void>((done) => answers.push(done)), { status: 'scored', value: 1 }) as never,
  })
  const scoring = new ScoringSpanProcessor({ scorers: [slow] })
  const { receiver, tracer } = await createPipeline({ processors: (batch) => [scoring, batch] })
  const flushes: Promise<void>[] = []
  for (let run = 0; run < 3; run += 1) {
    runAgent(tracer)
    flushes.push(scoring.forceFlush())
    await expect.poll(() => answers).toHaveLength(run + 1)
  }
  const isOver = Promise.race([...flushes.map((flush) => flush.then(() => true)), Promise.resolve(false)])
  expect(await isOver).toBe(false)
  for (const answer of answers) answer()
  await flushes[2]
  expect(receiver.spans.filter(({ name }) => name === 'evaluate slow')).toHaveLength(3)
  await Promise.all(flushes)
  await scoring.shutdown()
})

test('a flush that takes a limit resolves before it', async () => {
  const scoring = new ScoringSpanProcessor({
    scorers: [judgeScorer('never', { assess: () => new Promise(() => {}) as never })],
    shutdownTimeoutMs: 0,
  })
  const { tracer } = await createPipeline({ processors: (batch) => [scoring, batch] })
  runAgent(tracer)
  const late = new Promise((resolve) => setTimeout(resolve, 10_000, 'late').unref())
  expect(await Promise.race([scoring.forceFlush(100), late])).toBeUndefined()
  expect(scoring.ledger().scorers['never']).toMatchObject({ pending: 1 })
  await scoring.shutdown()
})

test('a flush during another export does not end before that export', async () => {
  const exports: (() => void)[] = []
  const exporter: SpanExporter = {
    export: (_spans, done) => void exports.push(() => done({ code: 0 })),
    shutdown: () => Promise.resolve(),
  }
  const next = new BatchSpanProcessor({ exporter })
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('exact')], next })
  runAgent(new TracerProvider({ spanProcessors: [scoring] }).getTracer('agents'))
  const over: string[] = []
  const first = scoring.forceFlush().then(() => over.push('first'))
  const second = scoring.forceFlush().then(() => over.push('second'))
  await expect.poll(() => exports).toHaveLength(1)
  // The batch processor's queue is empty by now: the batch processor alone would end the second flush immediately.
  await next.forceFlush()
  await new Promise(setImmediate)
  expect(over).toEqual([])
  exports[0]?.()
  await Promise.all([first, second])
  await scoring.shutdown()
})

test('spans, events and metrics are flushed at the same time', async () => {
  const flushed: string[] = []
  const waiting: (() => void)[] = []
  const unreachable = (name: string) => ({
    forceFlush: () => {
      flushed.push(name)
      return new Promise<void>((resolve) => waiting.push(resolve))
    },
  })
  const [next, meterProvider] = [unreachable('spans'), unreachable('metrics')]
  const scoring = new ScoringSpanProcessor({
    scorers: [codeScorer('exact')],
    next: { onStart() {}, onEnd() {}, shutdown: () => Promise.resolve(), ...next },
    meterProvider: { getMeter: () => metrics.getMeter('none'), ...meterProvider },
  })
  const flush = scoring.forceFlush()
  await expect.poll(() => flushed).toEqual(['spans', 'metrics'])
  waiting.pop()?.()
  const isOver = await Promise.race([flush.then(() => true), new Promise((resolve) => setImmediate(resolve, false))])
  expect(isOver).toBe(false)
  waiting.pop()?.()
  await flush
})

test('scores from before NodeSDK.shutdown arrive, and the rest is counted in the last export of metrics', async () => {
  const receiver = await createOtlpReceiver()
  const sdk = new NodeSDK({
    instrumentations: [],
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` }) })],
    logRecordProcessors: [
      new BatchLogRecordProcessor({ exporter: new OTLPLogExporter({ url: `${receiver.url}/v1/logs` }) }),
    ],
    metricReaders: [
      new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics` }) }),
    ],
  })
  sdk.start()
  const hanging = judgeScorer('hanging', { assess: () => new Promise(() => undefined) })
  const scoring = attachScoring({ scorers: [codeScorer('exact'), hanging], shutdownTimeoutMs: 20, holdMs: 0 })
  runAgent(trace.getTracer('agents'))
  await sdk.shutdown()
  await sdk.shutdown()
  expect(receiver.spans.find(({ name }) => name.startsWith('invoke_agent'))?.attributes).toMatchObject({
    'spanscore.exact.score': 1,
  })
  expect(receiver.logs.map(({ attributes }) => attributes['gen_ai.evaluation.name'])).toEqual(['exact'])
  const outcomes = receiver.metrics
    .filter(({ name }) => name === 'spanscore.evaluations')
    .map(({ attributes }) => [
      attributes['gen_ai.evaluation.name'],
      attributes['spanscore.outcome'],
      attributes['spanscore.reason'],
    ])
  expect(outcomes).toContainEqual(['hanging', 'skipped', 'shutdown'])
  expect(scoring.ledger().scorers).toMatchObject({ hanging: { skipped: 1, reasons: { shutdown: 1 }, pending: 0 } })
  expectBalanced(scoring.ledger())
  await receiver.close()
  trace.disable()
  metrics.disable()
  logs.disable()
})

test('the score of deferred code is not lost in a shutdown: it is given before loggers and meters close', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('later', { inline: false })] })
  const { receiver, tracer, provider } = await createPipeline({ processors: (batch) => [scoring, batch] })
  runAgent(tracer)
  const down = [provider.shutdown(), logs.getLoggerProvider(), metrics.getMeterProvider()] as const
  await Promise.all(
    down.map((each) => (each instanceof Promise ? each : Reflect.apply(Reflect.get(each, 'shutdown'), each, []))),
  )
  expect(receiver.logs).toHaveLength(1)
  expect(receiver.metrics.map(({ name }) => name)).toContain('spanscore.score')
  expect(scoring.ledger().scorers['later']).toMatchObject({ scored: 1, pending: 0 })
})

test('a flush ends when the earlier scores are complete, even if others are still requested', async () => {
  const answers: (() => void)[] = []
  const judge = judgeScorer('fitting', {
    assess: () =>
      new Promise((resolve) => {
        answers.push(() => resolve({ status: 'scored', value: 1 }))
      }),
  })
  const scoring = new ScoringSpanProcessor({ scorers: [judge], flushTimeoutMs: 60_000 })
  const { tracer } = await createPipeline({ processors: (batch) => [scoring, batch] })
  runAgent(tracer)
  await expect.poll(() => answers).toHaveLength(1)
  const flushed = scoring.forceFlush()
  await new Promise((resolve) => setImmediate(resolve))
  runAgent(tracer)
  await expect.poll(() => answers).toHaveLength(2)
  answers[0]?.()
  await flushed
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ scored: 1, pending: 1 })
  answers[1]?.()
})

test('flush and shutdown end although a judge hangs, and shutdown is idempotent', async () => {
  const hanging = judgeScorer('hanging', { assess: () => new Promise(() => undefined) })
  const scoring = new ScoringSpanProcessor({ scorers: [hanging], flushTimeoutMs: 30, shutdownTimeoutMs: 30 })
  const { tracer, provider, diagnostics } = await createPipeline({ processors: (batch) => [scoring, batch] })
  runAgent(tracer)
  await provider.forceFlush()
  await Promise.all([scoring.shutdown(), scoring.shutdown(), provider.shutdown()])
  await scoring.forceFlush()
  runAgent(tracer)
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1 },
    scorers: { hanging: { skipped: 1, reasons: { shutdown: 1 } } },
  })
  expect(diagnostics.filter((line) => line.includes('runs: 1 seen = 1 closed'))).toHaveLength(1)
})

test('a run with open spans at shutdown is scored as it is', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('later', { inline: false })] })
  const { tracer, provider } = await createPipeline({ processors: (batch) => [scoring, batch] })
  const { open, agentAttributes, chatAttributes } = await import('./harness.ts')
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  open(tracer, 'chat gpt-test', chatAttributes(), agent)
  agent.end()
  await provider.shutdown()
  expect(scoring.ledger()).toMatchObject({ runs: { seen: 1, closed: 1 }, scorers: { later: { scored: 1 } } })
})

import { setTimeout as sleep } from 'node:timers/promises'

import { diag, logs, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'
import { BatchLogRecordProcessor } from '@opentelemetry/sdk-logs'
import type { LoggerProvider, ReadableLogRecord } from '@opentelemetry/sdk-logs'
import { AggregationTemporality, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import { judgeScorer } from '../processor/harness.ts'
import { denseRun } from './dense-run.ts'

/** Runs of 6 MiB, and runs whose model asked for so many tool calls. Both take several turns of the event loop. */
const [DENSE_RUNS, RUNS_OF_MANY_CALLS, CALLS] = [2, 2, 10_000]
const RUNS = DENSE_RUNS + RUNS_OF_MANY_CALLS

/** Everything that an exporter of metrics got. */
class Metrics implements PushMetricExporter {
  readonly exported: ResourceMetrics[] = []
  export(metrics: ResourceMetrics, done: (result: { code: number }) => void): void {
    this.exported.push(structuredClone({ ...metrics, resource: undefined }) as unknown as ResourceMetrics)
    done({ code: 0 })
  }
  selectAggregationTemporality = () => AggregationTemporality.CUMULATIVE
  forceFlush = () => Promise.resolve()
  shutdown = () => Promise.resolve()
  /** The sum of a counter over all of its series, in the last export. */
  sumOf(name: string): number {
    const all = this.exported.at(-1)?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
    const points = all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
    return points.reduce((sum, { value }) => sum + Number(value), 0)
  }
}

const rubric = createRubricScorer({
  model: createFakeJudge('lenient'),
  criteria: [{ id: 'good', question: 'Is it good?' }],
})
const patient = judgeScorer('patient', { assess: () => sleep(200).then(() => ({ status: 'scored', value: 1 })) })
const limits = {
  timeoutMs: 60_000,
  holdMs: 60_000,
  shutdownTimeoutMs: 60_000,
  flushTimeoutMs: 60_000,
  budget: { callsPerMinute: Number.POSITIVE_INFINITY },
}

/** A real SDK with batches for all signals, and everything that its exporters got. */
function startSdk(scoring?: ScoringSpanProcessor) {
  const spans: ReadableSpan[] = []
  const events: ReadableLogRecord[] = []
  const metrics = new Metrics()
  const batch = new BatchSpanProcessor({
    exporter: {
      export: (all, done) => {
        spans.push(...all)
        done({ code: 0 })
      },
      shutdown: () => Promise.resolve(),
    },
  })
  const sdk = new NodeSDK({
    instrumentations: [],
    spanProcessors: scoring === undefined ? [batch] : [scoring, batch],
    logRecordProcessors: [
      new BatchLogRecordProcessor({
        exporter: {
          export: (records, done) => {
            events.push(...records)
            done({ code: 0 })
          },
          forceFlush: () => Promise.resolve(),
          shutdown: () => Promise.resolve(),
        },
      }),
    ],
    metricReaders: [new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 60_000 })],
  })
  const warn = vi.fn<(...said: unknown[]) => void>()
  diag.setLogger({ error: warn, warn, info() {}, debug() {}, verbose() {} })
  sdk.start()
  const warnings = () => warn.mock.calls.flat().join(' ')
  return { sdk, spans, events, metrics, warnings }
}

/** The logger provider of an SDK. The API has no getter for it. */
function loggersOf(sdk: NodeSDK): LoggerProvider {
  return Reflect.get(sdk, '_loggerProvider') as LoggerProvider
}

function playAll(): void {
  const tracer = trace.getTracer('agents')
  const plays = Array.from({ length: DENSE_RUNS }, () => denseRun('results'))
  for (const play of plays) play(tracer, (_what, hook) => hook())
  for (let run = 0; run < RUNS_OF_MANY_CALLS; run += 1) runOfManyCalls(tracer)
}

function runOfManyCalls(tracer: Tracer): void {
  const parts = Array.from({ length: CALLS }, (_, index) => ({ type: 'tool_call', id: `c${index}`, name: 'look' }))
  const agent = tracer.startSpan('invoke_agent b', { attributes: { 'gen_ai.operation.name': 'invoke_agent' } })
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts }]),
  }
  tracer.startSpan('chat', { attributes }, trace.setSpan(ROOT_CONTEXT, agent)).end()
  agent.end()
}

const eventsOf = (scorer: string, events: readonly ReadableLogRecord[]) =>
  events.filter(({ attributes }) => attributes['gen_ai.evaluation.name'] === scorer)

// The packages of judges are loaded, so that the judge answers in time on a slow machine.
beforeAll(() => rubric.run({ input: 'What is it?', output: 'It is what it is.' }))

afterEach(() => {
  trace.disable()
  logs.disable()
  diag.disable()
})

test('NodeSDK.shutdown() ends all providers in one turn, and loses no span, metric or event of large runs and judges', async () => {
  const { sdk, spans, events, metrics, warnings } = startSdk()
  const scoring = attachScoring({ scorers: [createToolErrorsScorer(), rubric, patient], ...limits })
  playAll()
  await sdk.shutdown()

  const { scorers } = scoring.ledger()
  const written = Object.values(scorers).reduce((sum, { scored, failed }) => sum + scored + failed, 0)
  for (const row of Object.values(scorers)) expect(row).toMatchObject({ offered: RUNS, pending: 0 })
  expect(scorers['patient']).toMatchObject({ scored: RUNS })
  expect(scorers['tool_errors']).toMatchObject({ failed: 0, reasons: expect.not.objectContaining({ shutdown: 1 }) })
  const agents = spans.filter(({ name }) => name.startsWith('invoke_agent'))
  expect(agents).toHaveLength(RUNS)
  for (const { attributes } of agents) expect(attributes).toHaveProperty('spanscore.patient.score')
  expect(metrics.sumOf('spanscore.evaluations')).toBe(3 * RUNS)
  expect(metrics.sumOf('spanscore.runs')).toBe(RUNS)
  expect(events).toHaveLength(written)
  expect(eventsOf('patient', events)).toHaveLength(RUNS)
  expect(warnings()).not.toContain('Lost at the shutdown')
}, 90_000)

test('beside a batch processor that is listed after it, no late span of a shutdown is lost', async () => {
  const scoring = new ScoringSpanProcessor({
    scorers: [createToolErrorsScorer()],
    emit: { lateSpans: 'always' },
    ...limits,
  })
  const { sdk, spans, events, warnings } = startSdk(scoring)
  playAll()
  await sdk.shutdown()
  const { scored = 0 } = scoring.ledger().scorers['tool_errors'] ?? {}
  expect(scored).toBeGreaterThanOrEqual(DENSE_RUNS)
  expect(events).toHaveLength(scored)
  const late = spans.filter(({ attributes }) => 'spanscore.tool_errors.score' in attributes)
  expect(late.filter(({ name }) => name === 'evaluate tool_errors')).toHaveLength(scored)
  expect(warnings()).not.toContain('Lost at the shutdown')
}, 90_000)

test('the logger provider has its own shutdown again after that of spanscore', async () => {
  const { sdk, events } = startSdk()
  const scoring = attachScoring({ scorers: [createToolErrorsScorer()], ...limits })
  const provider = loggersOf(sdk)
  const over = scoring.shutdown()
  expect(Object.hasOwn(provider, 'shutdown')).toBe(true)
  await over
  expect(Object.hasOwn(provider, 'shutdown')).toBe(false)
  provider.getLogger('another').emit({ body: 'the loggers of the application still run' })
  await sdk.shutdown()
  expect(events).toHaveLength(1)
}, 30_000)

test.each<{ what: string; shutdown: (sdk: NodeSDK) => Promise<unknown> }>([
  { what: 'shut down before spanscore', shutdown: (sdk) => Promise.all([loggersOf(sdk).shutdown(), sdk.shutdown()]) },
  {
    what: 'frozen, so that they cannot wait',
    shutdown: (sdk) => {
      Object.freeze(loggersOf(sdk))
      return sdk.shutdown()
    },
  },
])(
  'events that are lost because loggers are $what are counted and named',
  async ({ shutdown }) => {
    const { sdk, events, warnings } = startSdk()
    const scoring = attachScoring({ scorers: [createToolErrorsScorer(), patient], ...limits })
    playAll()
    await shutdown(sdk)
    const [, lost] = /Lost at the shutdown: (\d+) gen_ai\.evaluation\.result events/.exec(warnings()) ?? []
    expect(Number(lost)).toBeGreaterThan(0)
    const { scorers } = scoring.ledger()
    expect(events.length + Number(lost)).toBe((scorers['tool_errors']?.scored ?? 0) + (scorers['patient']?.scored ?? 0))
    expect(scorers['patient']?.scored).toBe(RUNS)
  },
  90_000,
)

test('after forceFlush(), nothing is lost, in whatever order the providers are shut down', async () => {
  const { sdk, events, warnings } = startSdk()
  const scoring = attachScoring({ scorers: [createToolErrorsScorer(), patient], ...limits })
  playAll()
  await scoring.forceFlush()
  await Promise.all([loggersOf(sdk).shutdown(), sdk.shutdown()])
  expect(eventsOf('patient', events)).toHaveLength(RUNS)
  expect(eventsOf('tool_errors', events)).toHaveLength(scoring.ledger().scorers['tool_errors']?.scored ?? -1)
  expect(warnings()).not.toContain('Lost at the shutdown')
}, 90_000)

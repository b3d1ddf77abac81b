import { diag, trace } from '@opentelemetry/api'
import { SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import { AggregationTemporality, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import type { PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { expect, test, vi } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import { denseRun } from './dense-run.ts'

const LARGE_RUNS = 2

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

test('NodeSDK.shutdown() ends all providers in one turn: spans and metrics lose nothing, and lost events are counted', async () => {
  const spans: ReadableSpan[] = []
  const events: ReadableLogRecord[] = []
  const metrics = new Metrics()
  const sdk = new NodeSDK({
    instrumentations: [],
    spanProcessors: [
      new BatchSpanProcessor({
        export: (batch, done) => {
          spans.push(...batch)
          done({ code: 0 })
        },
        shutdown: () => Promise.resolve(),
      }),
    ],
    logRecordProcessors: [
      new SimpleLogRecordProcessor({
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
  const judge = createRubricScorer({
    model: createFakeJudge('lenient'),
    criteria: [{ id: 'good', question: 'Is it good?' }],
  })
  // The packages of judges are loaded, so that the judge answers in time on a slow machine.
  await judge.run({ input: 'What is it?', output: 'It is what it is.' })
  const scoring = attachScoring({
    scorers: [createToolErrorsScorer(), judge],
    timeoutMs: 60_000,
    holdMs: 60_000,
    shutdownTimeoutMs: 60_000,
  })
  for (const play of Array.from({ length: LARGE_RUNS }, () => denseRun('results'))) {
    play(trace.getTracer('agents'), (_what, hook) => hook())
  }
  await sdk.shutdown()

  const { scorers } = scoring.ledger()
  expect(scorers['tool_errors']).toMatchObject({ runs: LARGE_RUNS, scored: LARGE_RUNS, pending: 0 })
  expect(scorers[judge.id]).toEqual({
    runs: LARGE_RUNS,
    scored: LARGE_RUNS,
    skipped: 0,
    failed: 0,
    pending: 0,
    reasons: {},
  })
  const agents = spans.filter(({ name }) => name.startsWith('invoke_agent'))
  expect(agents).toHaveLength(LARGE_RUNS)
  for (const { attributes } of agents) {
    expect(attributes).toHaveProperty('spanscore.tool_errors.score')
    expect(attributes).toHaveProperty(`spanscore.${judge.id}.score`)
  }
  expect(metrics.sumOf('spanscore.evaluations')).toBe(2 * LARGE_RUNS)
  expect(metrics.sumOf('spanscore.runs')).toBe(LARGE_RUNS)

  const said = warn.mock.calls.flat().join(' ')
  const [, lost] = /Lost at the shutdown: (\d+) gen_ai\.evaluation\.result events/.exec(said) ?? []
  expect(Number(lost)).toBeGreaterThan(0)
  expect(events.length + Number(lost)).toBe(2 * LARGE_RUNS)
}, 90_000)

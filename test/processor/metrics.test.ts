import { metrics } from '@opentelemetry/api'
import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import { createScriptedJudge } from '../../src/testing/scripted-judge.ts'
import { codeScorer, createPipeline, judgeScorer, open, runAgent } from './harness.ts'

const options = (more: Partial<ScoringOptions> = {}): ScoringOptions => ({ scorers: [codeScorer('exact')], ...more })

async function createMetrics() {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  return {
    ...pipeline,
    /** The sum of the latest values of a metric's series that arrived. */
    total: async (name: string): Promise<number> => {
      await pipeline.flush()
      const latest = new Map<string, number>()
      for (const metric of pipeline.receiver.metrics) {
        if (metric.name === name) latest.set(JSON.stringify(metric.attributes), metric.value ?? 0)
      }
      return [...latest.values()].reduce((sum, value) => sum + value, 0)
    },
  }
}

test('two processors that write to one meter provider are counted together', async () => {
  const { tracer, total } = await createMetrics()
  attachScoring(options())
  const other = new TracerProvider()
  const second = attachScoring(options({ tracerProvider: other }))
  runAgent(tracer)
  runAgent(other.getTracer('other'))
  runAgent(other.getTracer('other'))
  await second.forceFlush()
  expect(await total('spanscore.evaluations')).toBe(3)
  expect(await total('spanscore.runs')).toBe(3)
})

test('the settings of alerts are a gauge with the agents of which runs were chosen, of processors that have not ended', async () => {
  const pipeline = await createMetrics()
  const scoring = attachScoring({ scorers: [{ scorer: codeScorer('exact'), alerts: { target: 0.8 } }] })
  runAgent(pipeline.tracer)
  await scoring.forceFlush()
  await pipeline.flush()
  const settings = pipeline.receiver.metrics.filter(({ name }) => name === 'spanscore.alert.setting')
  const target = settings.find(({ attributes }) => attributes['spanscore.setting'] === 'target_passed')
  expect(target?.value).toBe(0.8)
  expect(target?.attributes).toMatchObject({ 'gen_ai.evaluation.name': 'exact' })
  expect(new Set(settings.map(({ attributes }) => attributes['spanscore.setting']))).toEqual(
    new Set(['target_passed', 'target_severity', 'drop_severity', 'runs_together', 'worst_score', 'best_score']),
  )
})

test('counters continue from the values of a detached processor', async () => {
  const { tracer, total } = await createMetrics()
  const first = attachScoring(options())
  runAgent(tracer)
  await first.detach()
  attachScoring(options())
  runAgent(tracer)
  expect(await total('spanscore.evaluations')).toBe(2)
  expect(await total('spanscore.sum.w')).toBe(2)
})

test('runs and failures are counted even if nothing is ever scored', async () => {
  const { tracer, total } = await createMetrics()
  attachScoring(
    options({
      scorers: [
        codeScorer('broken', {
          assess: () => {
            throw new Error('broken')
          },
        }),
      ],
    }),
  )
  runAgent(tracer)
  expect(await total('spanscore.evaluations')).toBe(1)
  expect(await total('spanscore.runs')).toBe(1)
})

test('without the signal there are no instruments at all', async () => {
  const { tracer, flush, receiver } = await createMetrics()
  attachScoring(options({ emit: { metrics: false } }))
  runAgent(tracer)
  await flush()
  expect(receiver.metrics.filter(({ name }) => name.startsWith('spanscore.'))).toEqual([])
})

test('the name of an agent is cut before it leaves', async () => {
  const { tracer, flush, receiver } = await createMetrics()
  attachScoring(options())
  runAgent(tracer, 'n'.repeat(100_000))
  await flush()
  const name = 'n'.repeat(256)
  expect(receiver.logs[0]?.attributes['gen_ai.agent.name']).toBe(name)
  expect(receiver.metrics.find((metric) => metric.name === 'spanscore.runs')?.attributes['gen_ai.agent.name']).toBe(
    name,
  )
})

/** A meter provider with a reader that the test asks, in place of an exporter with a clock. */
function createMeter(temporality = AggregationTemporality.CUMULATIVE) {
  class Reader extends MetricReader {
    constructor() {
      super({ aggregationTemporalitySelector: () => temporality })
    }
    protected async onForceFlush() {}
    protected async onShutdown() {}
  }
  const reader = new Reader()
  const provider = new MeterProvider({ readers: [reader] })
  return {
    provider,
    sum: async (name: string): Promise<number> => {
      const { resourceMetrics } = await reader.collect()
      return resourceMetrics.scopeMetrics
        .flatMap(({ metrics: all }) => all)
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints }): readonly { readonly value: unknown }[] => dataPoints)
        .reduce((sum, { value }) => sum + Number(value), 0)
    },
  }
}

/** Registers a meter provider in place of what was registered. */
function use(provider: MeterProvider | undefined): void {
  metrics.disable()
  if (provider !== undefined) metrics.setGlobalMeterProvider(provider)
}

function boom(): never {
  throw new Error('broken meter')
}

async function createProcessor(meterProvider: () => MeterProvider | undefined) {
  const scoring = new ScoringSpanProcessor(options())
  const pipeline = await createPipeline({ processors: (batch) => [scoring, batch], metrics: false })
  use(meterProvider())
  return { ...pipeline, scoring }
}

test('runs that ended before there was a meter provider are counted by the one that appears', async () => {
  const { tracer, scoring } = await createProcessor(() => undefined)
  runAgent(tracer)
  await scoring.forceFlush()
  const { provider, sum } = createMeter()
  use(provider)
  runAgent(tracer)
  await scoring.forceFlush()
  expect(await sum('spanscore.sum.w')).toBe(2)
  expect(await sum('spanscore.runs')).toBe(2)
})

test('sums that were gathered for a meter provider go to it and not to its replacement', async () => {
  const first = createMeter()
  const second = createMeter()
  const { tracer, scoring } = await createProcessor(() => first.provider)
  runAgent(tracer)
  use(second.provider)
  runAgent(tracer)
  runAgent(tracer)
  await scoring.forceFlush()
  expect(await first.sum('spanscore.sum.w')).toBe(1)
  expect(await second.sum('spanscore.sum.w')).toBe(2)
})

test('deltas add up to what was scored, whenever they are collected', async () => {
  const meter = createMeter(AggregationTemporality.DELTA)
  const { tracer, scoring } = await createProcessor(() => meter.provider)
  const collected: number[] = []
  for (const runs of [3, 0, 2]) {
    for (let run = 0; run < runs; run += 1) runAgent(tracer)
    await scoring.forceFlush()
    collected.push(await meter.sum('spanscore.sum.w'))
  }
  expect(collected).toEqual([3, 0, 2])
})

test('sums reach the SDK within a second without a flush', async () => {
  const meter = createMeter()
  const { tracer } = await createProcessor(() => meter.provider)
  runAgent(tracer)
  await expect.poll(() => meter.sum('spanscore.sum.w')).toBe(1)
})

test.each(['getMeter', 'createCounter', 'add'])(
  'a meter provider whose %s throws costs its metrics, and no score',
  async (broken) => {
    const { provider } = createMeter()
    const fake: MeterProvider = Object.create(provider)
    const counter = { add: broken === 'add' ? boom : () => {} }
    const meter = {
      createHistogram: () => ({ record() {} }),
      createCounter: broken === 'createCounter' ? boom : () => counter,
      createObservableGauge: () => ({ addCallback() {} }),
    }
    fake.getMeter = broken === 'getMeter' ? boom : () => meter as never
    const { tracer, scoring, flush, receiver, diagnostics } = await createProcessor(() => fake)
    runAgent(tracer)
    runAgent(tracer)
    await flush()
    expect(scoring.ledger().scorers['exact']).toMatchObject({ offered: 2, scored: 2 })
    expect(receiver.logs).toHaveLength(2)
    expect(diagnostics.filter((line) => line.includes('The meter provider threw'))).toHaveLength(1)
  },
)

test('both labels of a scorer begin together, so that a backend that loses first values loses the same runs of all sums', async () => {
  const { tracer, flush, receiver } = await createMetrics()
  attachScoring(options())
  runAgent(tracer)
  await flush()
  const labels = receiver.metrics
    .filter(({ name }) => name === 'spanscore.sum.w')
    .map(({ attributes, value }) => [attributes['gen_ai.evaluation.score.label'], value])
  expect(Object.fromEntries(labels)).toEqual({ pass: 1, fail: 0 })
  const wy = receiver.metrics.filter(({ name }) => name === 'spanscore.sum.wy')
  expect(wy.every(({ attributes }) => !('gen_ai.evaluation.score.label' in attributes))).toBe(true)
})

test('chosen runs are counted as scored or lost, and both series begin with the first run', async () => {
  const { tracer, flush, receiver } = await createMetrics()
  let runs = 0
  const scorer = codeScorer('exact', {
    assess: () => {
      if ((runs += 1) === 3) throw new Error('broken')
      return { status: 'scored', value: 1 }
    },
  })
  attachScoring(options({ scorers: [scorer] }))
  const chosen = () =>
    Object.fromEntries(
      receiver.metrics
        .filter(({ name }) => name === 'spanscore.chosen.w')
        .map(({ attributes, value }) => [attributes['spanscore.outcome'], value]),
    )
  runAgent(tracer)
  await flush()
  expect(chosen()).toEqual({ scored: 1, lost: 0 })
  runAgent(tracer)
  runAgent(tracer)
  await flush()
  expect(chosen()).toEqual({ scored: 2, lost: 1 })
})

test('runs without the content that a scorer reads are lost, and those that are not for it are not', async () => {
  const { tracer, flush, receiver } = await createMetrics()
  const scorer = codeScorer('long', {
    assess: ({ output = '' }) => ({ status: 'scored', value: Math.min(1, output.length / 10) }),
  })
  attachScoring(options({ scorers: [scorer, { scorer: codeScorer('other'), agent: 'another-agent' }] }))
  runAgent(tracer)
  const withoutContent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'weather-agent' }
  for (let run = 0; run < 2; run += 1) open(tracer, 'invoke_agent weather-agent', withoutContent).end()
  await flush()
  const chosen = receiver.metrics
    .filter(({ name }) => name === 'spanscore.chosen.w')
    .map(({ attributes, value }) => [
      [attributes['gen_ai.evaluation.name'], attributes['spanscore.outcome']].join(' '),
      value,
    ])
  expect(Object.fromEntries(chosen)).toEqual({ 'long scored': 1, 'long lost': 2 })
})

test('sums name the version of the scorer and the model that answered; twenty models, then other', async () => {
  const { tracer, flush, receiver } = await createMetrics()
  let calls = 0
  const judge = judgeScorer('fitting', {
    assess: async () => ({
      status: 'scored',
      value: 1,
      judge: { model: `judge-${(calls += 1)}`, calls: 1, usage: {} },
    }),
  })
  attachScoring(options({ scorers: [judge], budget: { callsPerMinute: Number.POSITIVE_INFINITY } }))
  for (let run = 0; run < 25; run += 1) runAgent(tracer)
  await flush()
  const latest = new Map(
    receiver.metrics
      .filter(({ name, value }) => name === 'spanscore.sum.w2' && value !== 0)
      .map(({ attributes, value }) => [attributes['spanscore.judge.model'], { attributes, value }]),
  )
  expect(latest.size).toBe(21)
  expect(latest.get('other')?.value).toBe(5)
  expect(latest.get('judge-1')?.attributes['spanscore.scorer.version']).toBe(judge.version)
  expect(judge.version).toMatch(/^[0-9a-f]{8}$/)
})

test('a score from several models has the model name mixed', async () => {
  const { tracer, flush, receiver } = await createMetrics()
  const model = createScriptedJudge([
    { text: 'no JSON at all', modelId: 'judge-1' },
    { verdicts: { polite: 'pass' }, modelId: 'judge-2' },
  ])
  const judge = createRubricScorer({ model, criteria: [{ id: 'polite', question: 'Is the answer polite?' }] })
  const scoring = attachScoring(options({ scorers: [judge] }))
  runAgent(tracer)
  await scoring.forceFlush()
  await flush()
  expect(scoring.ledger().scorers['rubric']).toMatchObject({ scored: 1 })
  const models = receiver.metrics
    .filter(({ name }) => name === 'spanscore.sum.w')
    .map(({ attributes }) => attributes['spanscore.judge.model'])
  expect(new Set(models)).toEqual(new Set(['mixed']))
})

test.each([
  [{ inputTokens: 1, outputTokens: 1 }, 0.02],
  [{ outputTokens: 1 }, 1],
])('a judge that reports %j of its tokens uses %d of a budget for one estimate', async (usage, used) => {
  const { tracer, total } = await createMetrics()
  const judge = { model: 'm', calls: 1, usage }
  const scorer = judgeScorer('j', { assess: async () => ({ status: 'scored', value: 1, judge }) })
  // The estimate is 100 tokens.
  const scoring = attachScoring(options({ scorers: [scorer], budget: { tokensPerHour: 100, callsPerMinute: 1000 } }))
  runAgent(tracer)
  await scoring.forceFlush()
  expect(await total('spanscore.budget.used_ratio')).toBeCloseTo(used, 2)
})

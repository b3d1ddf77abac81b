import { createHash } from 'node:crypto'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { expect, test } from 'vitest'

import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { SamplePoint } from '../../src/sampling/sample-point.ts'
import type { ReceivedMetric } from '../../src/testing/otlp-metrics.ts'
import { agentAttributes, cleanUp, codeScorer, createScoring, judgeScorer, open, runAgent } from './harness.ts'

/** Ids that are the same in every run of the tests, and spread as random ones are. */
function repeatableIds() {
  let made = 0
  const id = (length: number) =>
    createHash('sha256')
      .update(`id ${(made += 1)}`)
      .digest('hex')
      .slice(0, length)
  return { generateTraceId: () => id(32), generateSpanId: () => id(16) }
}

/** The latest values of a metric's series, by outcome. */
function latestByOutcome(received: readonly ReceivedMetric[], name: string): Readonly<Record<string, number>> {
  const ofName = received.filter((metric) => metric.name === name)
  return Object.fromEntries(ofName.map(({ attributes, value }) => [attributes['spanscore.outcome'], value ?? 0]))
}

test('a rate keeps the same traces for every scorer, and the smaller sample lies in the larger', async () => {
  const { tracer, scoring, seen } = await createScoring({
    scorers: [
      { scorer: codeScorer('few'), sample: 0.1 },
      { scorer: codeScorer('many'), sample: 0.5 },
    ],
    upstreamProbability: 0.5,
  })
  const traceIds = Array.from({ length: 500 }, () => runAgent(tracer).spanContext().traceId)
  const scoredBy = (id: string) => seen.filter(({ scorer }) => scorer.id === id).map(({ runId }) => runId.slice(0, 32))
  expect(scoredBy('few')).toEqual(traceIds.filter((traceId) => new SamplePoint(traceId).isBelow(0.1)))
  expect(scoredBy('many')).toEqual(traceIds.filter((traceId) => new SamplePoint(traceId).isBelow(0.5)))
  expect(seen.find(({ scorer }) => scorer.id === 'few')).toMatchObject({ probability: 0.1, upstreamProbability: 0.5 })
  const { few } = scoring.ledger().scorers
  expect(few).toMatchObject({ offered: 500, skipped: 500 - scoredBy('few').length })
})

/** A caller in another process, who has chosen the trace id. */
function caller(traceId: string) {
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: '2'.repeat(16), traceFlags: 1, isRemote: true })
}

test('with sampleSalt no caller can choose, by its trace ids, not to be scored, and processes with the salt agree', async () => {
  const ids = repeatableIds()
  // A rate of .9 leaves these out, which everybody can compute.
  const evading = Array.from({ length: 1000 }, () => ids.generateTraceId()).filter(
    (traceId) => new SamplePoint(traceId).value >= 0.9,
  )
  const scoredOf = async (salt: Partial<ScoringOptions>): Promise<readonly string[]> => {
    const { tracer, seen } = await createScoring({ scorers: [codeScorer('c')], sample: 0.9, ...salt })
    for (const traceId of evading) runAgent(tracer, 'a', caller(traceId))
    const scored = seen.map(({ runId }) => runId.slice(0, 32))
    await cleanUp()
    return scored
  }
  expect(await scoredOf({})).toEqual([])
  const scored = await scoredOf({ sampleSalt: 'a secret' })
  expect(scored.length / evading.length).toBeGreaterThan(0.75)
  expect(await scoredOf({ sampleSalt: 'a secret' })).toEqual(scored)
  expect(await scoredOf({ sampleSalt: 'another secret' })).not.toEqual(scored)
})

test('no caller keeps its runs from being scored by naming a span of a closed run as its parent', async () => {
  const { tracer, scoring, seen, flush } = await createScoring({ scorers: [codeScorer('c')] })
  // A tool that calls out hands on its ids.
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const tool = open(tracer, 'execute_tool get', { 'gen_ai.operation.name': 'execute_tool' }, agent)
  const request = open(tracer, 'GET', {}, tool)
  for (const span of [request, tool, agent]) span.end()
  await flush()
  for (const span of [request, tool, agent]) {
    const parent = trace.setSpanContext(ROOT_CONTEXT, { ...span.spanContext(), isRemote: true })
    runAgent(tracer, 'b', trace.setSpan(ROOT_CONTEXT, tracer.startSpan('POST /chat', {}, parent)))
  }
  expect(seen).toHaveLength(4)
  expect(scoring.ledger().runs).toMatchObject({ seen: 4, late: 0 })
})

test('no caller keeps its runs from being scored by attributes in text that look like a score', async () => {
  const { tracer, seen } = await createScoring({ scorers: [codeScorer('c')] })
  const baggage = { 'spanscore.c.score': '1', 'spanscore.c.version': codeScorer('c').version }
  open(tracer, 'invoke_agent a', { ...agentAttributes('a'), ...baggage }).end()
  expect(seen.map(({ score }) => score.status)).toEqual(['scored'])
})

test('runs without a scorer are counted, and nothing is written', async () => {
  const { tracer, scoring, receiver, flush } = await createScoring({
    scorers: [codeScorer('a'), judgeScorer('b')],
    sample: 0,
  })
  runAgent(tracer)
  await flush()
  expect(receiver.spans).toHaveLength(3)
  expect(JSON.stringify(receiver.spans)).not.toContain('spanscore.')
  expect(receiver.logs).toEqual([])
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1, closed: 1, open: 0 },
    scorers: { a: { skipped: 1, reasons: { 'sampled-out': 1 } }, b: { skipped: 1, reasons: { 'sampled-out': 1 } } },
  })
})

test('a sample function sees the finished run: errors are kept more often', async () => {
  const { tracer, scoring } = await createScoring({
    scorers: [judgeScorer('fitting')],
    sample: (run) => (run.status === 'error' ? 1 : 0),
    budget: { callsPerMinute: Number.POSITIVE_INFINITY },
  })
  for (let index = 0; index < 5; index += 1) runAgent(tracer)
  const failed = open(tracer, 'invoke_agent a', agentAttributes('a'))
  failed.setStatus({ code: 2 })
  failed.end()
  await scoring.forceFlush()
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ offered: 6, scored: 1, reasons: { 'sampled-out': 5 } })
})

test('a run with a weight above a thousand is refused, and that is reported', async () => {
  const { tracer, scoring, flush, receiver } = await createScoring({
    scorers: [codeScorer('exact'), judgeScorer('fitting')],
    upstreamProbability: 0.0001,
  })
  runAgent(tracer)
  await flush()
  expect(scoring.ledger().scorers).toMatchObject({
    exact: { scored: 0, reasons: { refused: 1 } },
    fitting: { scored: 0, reasons: { refused: 1 } },
  })
  expect(receiver.metrics.some(({ name }) => name === 'spanscore.sum.w')).toBe(false)
  expect(latestByOutcome(receiver.metrics, 'spanscore.chosen.w')).toEqual({ scored: 0, lost: 1000 })
})

test('agent and when are filters', async () => {
  const { tracer, scoring } = await createScoring({
    scorers: [
      { scorer: codeScorer('weather'), agent: ['weather', 'climate'] },
      { scorer: codeScorer('some'), when: (run) => run.agent.name === 'climate' },
    ],
  })
  for (const name of ['weather', 'climate', 'support']) runAgent(tracer, name)
  expect(scoring.ledger().scorers).toMatchObject({
    weather: { offered: 3, scored: 2, reasons: { filtered: 1 } },
    some: { offered: 3, scored: 1, reasons: { filtered: 2 } },
  })
})

test('the default budget admits a first dozen of runs that arrive together', async () => {
  const { tracer, scoring, seen } = await createScoring({ scorers: [judgeScorer('fitting'), judgeScorer('polite')] })
  for (let index = 0; index < 12; index += 1) runAgent(tracer)
  await scoring.forceFlush()
  expect(scoring.ledger().scorers).toMatchObject({ fitting: { scored: 12 }, polite: { scored: 12 } })
  expect(seen.every(({ probability }) => probability === 1)).toBe(true)
})

test('above the budget judges see a reduced sample with higher weights, and spans do not mention it', async () => {
  // Trace ids decide which runs are kept. With random ids the sum varies by about 120, and one try in ten would be out of bounds.
  const { tracer, scoring, receiver, flush } = await createScoring(
    { scorers: [judgeScorer('fitting')], budget: { callsPerMinute: 60 } },
    { idGenerator: repeatableIds() },
  )
  for (let index = 0; index < 600; index += 1) runAgent(tracer)
  await flush()
  const { scored, skipped, reasons } = scoring.ledger().scorers['fitting']!
  expect(scored).toBeLessThanOrEqual(60)
  expect(reasons['thinned']).toBeGreaterThan(400)
  expect(scored + skipped).toBe(600)
  expect(receiver.spans.filter(({ name }) => name.startsWith('evaluate'))).toHaveLength(scored)
  // The chosen runs represent all runs, whether there was room for them or not.
  const byOutcome = latestByOutcome(receiver.metrics, 'spanscore.chosen.w')
  const chosen = (byOutcome['scored'] ?? 0) + (byOutcome['lost'] ?? 0)
  expect(chosen).toBeGreaterThan(400)
  expect(chosen).toBeLessThan(800)
})

test('an unavailable judge is skipped, and reported once', async () => {
  const judge = {
    model: 'a/b',
    priced: true,
    estimate: () => ({ calls: 1, tokens: 1 }),
    unavailable: () => 'OPENAI_API_KEY is not set.',
  }
  const { tracer, scoring, flush, diagnostics } = await createScoring({ scorers: [judgeScorer('fitting', { judge })] })
  runAgent(tracer)
  runAgent(tracer)
  await flush()
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ skipped: 2, reasons: { 'judge-unavailable': 2 } })
  expect(diagnostics.filter((line) => line.includes('OPENAI_API_KEY is not set'))).toHaveLength(1)
})

test('runs beyond the queue are skipped as queue-full, and runs with higher rates go first', async () => {
  const order: string[] = []
  const { tracer, scoring, flush } = await createScoring({
    scorers: [
      judgeScorer('fitting', {
        assess: async (run) => {
          order.push(run.status)
          await new Promise((resolve) => setTimeout(resolve, 1))
          return { status: 'scored', value: 1 }
        },
      }),
    ],
    sample: (run) => (run.status === 'error' ? 1 : 0.999),
    concurrency: 1,
    queueSize: 4,
    budget: { callsPerMinute: Number.POSITIVE_INFINITY },
  })
  for (let index = 0; index < 3; index += 1) runAgent(tracer)
  const failed = open(tracer, 'invoke_agent a', agentAttributes('a'))
  failed.setStatus({ code: 2 })
  failed.end()
  for (let index = 0; index < 4; index += 1) runAgent(tracer)
  await flush()
  expect(order.slice(0, 2)).toContain('error')
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ offered: 8, scored: 5, reasons: { 'queue-full': 3 } })
})

test('errors of the same rate wait like other runs: a full queue does not choose by outcome', async () => {
  const order: string[] = []
  const { tracer, flush } = await createScoring({
    scorers: [
      judgeScorer('fitting', {
        assess: async (run) => {
          order.push(run.status)
          await new Promise((resolve) => setTimeout(resolve, 1))
          return { status: 'scored', value: 1 }
        },
      }),
    ],
    concurrency: 1,
  })
  for (let index = 0; index < 3; index += 1) runAgent(tracer)
  const failed = open(tracer, 'invoke_agent a', agentAttributes('a'))
  failed.setStatus({ code: 2 })
  failed.end()
  await flush()
  expect(order).toEqual(['ok', 'ok', 'ok', 'error'])
})

test('with a queue of size 0, only as many are scored as run at the same time', async () => {
  const { tracer, scoring, flush } = await createScoring({
    scorers: [judgeScorer('fitting')],
    concurrency: 2,
    queueSize: 0,
  })
  for (let index = 0; index < 5; index += 1) runAgent(tracer)
  await flush()
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ offered: 5, scored: 2, reasons: { 'queue-full': 3 } })
})

test('metricAttributes are copied to metrics and events, fifty values each, then other', async () => {
  const { tracer, receiver, flush } = await createScoring({
    scorers: [codeScorer('exact')],
    metricAttributes: ['tenant', 'service.name'],
  })
  for (let index = 0; index < 60; index += 1) {
    open(tracer, 'invoke_agent a', { ...agentAttributes('a'), tenant: `t${index}` }).end()
  }
  await flush()
  // Our flush and the flush of the test both export them.
  const points = receiver.metrics.filter(({ name }) => name === 'spanscore.evaluations').slice(51)
  expect(points).toHaveLength(51)
  expect(points.find(({ attributes }) => attributes['tenant'] === 'other')?.value).toBe(10)
  expect(points[0]?.attributes['service.name']).toMatch(/^unknown_service/)
  expect(receiver.logs[59]?.attributes['tenant']).toBe('other')
})

test('a metric attribute is kept short, however long its value is on the span', async () => {
  const { tracer, receiver, flush } = await createScoring({
    scorers: [codeScorer('exact')],
    metricAttributes: ['tenant'],
  })
  open(tracer, 'invoke_agent a', { ...agentAttributes('a'), tenant: 't'.repeat(1_000_000) }).end()
  await flush()
  expect(receiver.logs[0]?.attributes['tenant']).toBe('t'.repeat(256))
})

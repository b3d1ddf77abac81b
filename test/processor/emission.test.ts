import { readFileSync } from 'node:fs'

import { expect, test } from 'vitest'

import { SCOPE_NAME, SCOPE_VERSION } from '../../src/emit/signal-providers.ts'
import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { codeScorer, createPipeline, expectBalanced, judgeScorer, runAgent } from './harness.ts'

test('beside: the code score is on the agent span, the judge score on a late span, both as events and metrics', async () => {
  const scoring = new ScoringSpanProcessor({
    scorers: [codeScorer('exact'), judgeScorer('fitting')],
    upstreamProbability: 1,
  })
  const { receiver, tracer, flush, diagnostics } = await createPipeline({ processors: (batch) => [scoring, batch] })

  const agent = runAgent(tracer)
  await flush()

  const span = receiver.spans.find(({ name }) => name === 'invoke_agent weather-agent')
  expect(span?.attributes).toMatchObject({
    'spanscore.exact.score': 1,
    'spanscore.exact.label': 'pass',
    'spanscore.exact.explanation': 'because',
    'spanscore.complete': true,
    'spanscore.revision': 1,
  })
  expect(span?.attributes).not.toHaveProperty('spanscore.fitting.score')

  const late = receiver.spans.find(({ name }) => name === 'evaluate fitting')
  expect(late).toMatchObject({
    traceId: agent.spanContext().traceId,
    parentSpanId: agent.spanContext().spanId,
    scope: { name: 'spanscore' },
    startTimeMs: span?.endTimeMs,
    endTimeMs: span?.endTimeMs,
    attributes: {
      'gen_ai.operation.name': 'evaluation',
      'gen_ai.evaluation.name': 'fitting',
      'gen_ai.evaluation.score.value': 0.75,
      'gen_ai.evaluation.score.label': 'pass',
      'gen_ai.agent.name': 'weather-agent',
      'spanscore.fitting.score': 0.75,
      'spanscore.judge.model': 'judge-1',
      'spanscore.judge.cost_usd': 0.0005,
      'spanscore.probability': 1,
    },
  })
  expect(receiver.spans.filter(({ scope }) => scope.name === 'spanscore')).toHaveLength(1)

  const { traceId, spanId } = agent.spanContext()
  expect(receiver.logs).toHaveLength(2)
  for (const log of receiver.logs) expect(log).toMatchObject({ eventName: 'gen_ai.evaluation.result', traceId, spanId })
  const [event] = receiver.logs
  expect(event?.attributes).toMatchObject({
    'gen_ai.evaluation.name': 'exact',
    'gen_ai.evaluation.explanation': 'because',
    'gen_ai.response.id': 'resp_1',
    'gen_ai.evaluation.evaluator.type': 'deterministic',
    'spanscore.score.min': 0,
    'spanscore.score.max': 1,
    'spanscore.score.better': 'higher',
  })
  expect(event?.timeMs).toBeCloseTo(span?.endTimeMs ?? 0, 0)

  const last = (name: string, scorer?: string) =>
    receiver.metrics.findLast(
      (metric) =>
        metric.name === name && (scorer === undefined || metric.attributes['gen_ai.evaluation.name'] === scorer),
    )
  expect(last('spanscore.score', 'fitting')?.histogram).toMatchObject({ count: 1, sum: 0.75 })
  expect(last('spanscore.evaluations', 'exact')).toMatchObject({
    value: 1,
    attributes: {
      'gen_ai.agent.name': 'weather-agent',
      'gen_ai.request.model': 'gpt-test',
      'spanscore.outcome': 'scored',
      'gen_ai.evaluation.score.label': 'pass',
    },
  })
  expect(last('spanscore.runs')).toMatchObject({ value: 1, attributes: { 'spanscore.outcome': 'closed' } })
  expect(last('spanscore.sum.wy', 'fitting')?.value).toBe(0.75)
  expect(last('spanscore.judge.cost')?.value).toBe(0.0005)
  expect(last('spanscore.open_runs')?.value).toBe(0)

  expect(diagnostics.filter((line) => line.includes('Scores go to'))).toHaveLength(1)
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1, closed: 1, open: 0, evicted: 0, late: 0 },
    scorers: { exact: { offered: 1, scored: 1 }, fitting: { offered: 1, scored: 1 } },
  })
  expectBalanced(scoring.ledger())
})

test('the scope says the version of the package', () => {
  expect(JSON.parse(readFileSync('package.json', 'utf8'))).toMatchObject({ name: SCOPE_NAME, version: SCOPE_VERSION })
})

test('in front: the judge score is on the agent span itself, and there is no late span', async () => {
  const { receiver, tracer, flush } = await createPipeline({
    processors: (batch) => [
      new ScoringSpanProcessor({ scorers: [codeScorer('exact'), judgeScorer('fitting')], next: batch }),
    ],
  })

  runAgent(tracer)
  await flush()

  expect(receiver.spans.map(({ name }) => name)).toEqual([
    'execute_tool weather',
    'chat gpt-test',
    'invoke_agent weather-agent',
  ])
  expect(receiver.spans[2]?.attributes).toMatchObject({
    'spanscore.exact.score': 1,
    'spanscore.fitting.score': 0.75,
    'spanscore.fitting.explanation': 'it fits',
  })
})

test('attached: the processors of the provider become next, and get back what they had on detach', async () => {
  const { receiver, tracer, flush, provider } = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({ scorers: [judgeScorer('fitting')] })
  expect(attachScoring({ scorers: [codeScorer('other')] })).toBe(scoring)

  runAgent(tracer)
  await flush()
  expect(receiver.spans.find(({ name }) => name.startsWith('invoke_agent'))?.attributes).toHaveProperty(
    'spanscore.fitting.score',
    0.75,
  )
  expectBalanced(scoring.ledger())

  await scoring.detach()
  runAgent(tracer)
  await provider.forceFlush()
  expect(receiver.spans).toHaveLength(6)
  expect(receiver.spans.at(-1)?.attributes).not.toHaveProperty('spanscore.fitting.score')
})

test('attaching again after a shutdown scores once, and detaches cleanly', async () => {
  const { receiver, tracer, flush, provider } = await createPipeline({ processors: (batch) => [batch] })
  const first = attachScoring({ scorers: [codeScorer('exact')] })
  await first.shutdown()
  const second = attachScoring({ scorers: [codeScorer('exact')] })
  expect(second).not.toBe(first)
  // This call comes too late and has no effect.
  await first.detach()
  expect(attachScoring({ scorers: [codeScorer('exact')] })).toBe(second)

  runAgent(tracer)
  await flush()
  expect(second.ledger()).toMatchObject({ runs: { seen: 1 }, scorers: { exact: { scored: 1 } } })
  expect(receiver.spans).toHaveLength(3)

  await second.detach()
  runAgent(tracer)
  await provider.forceFlush()
  expect(receiver.spans).toHaveLength(6)
  expect(receiver.spans.at(-1)?.attributes).not.toHaveProperty('spanscore.exact.score')
})

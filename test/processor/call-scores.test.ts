import type { Tracer } from '@opentelemetry/api'
import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import {
  agentAttributes,
  chatAttributes,
  codeScorer,
  createPipeline,
  expectBalanced,
  open,
  toolAttributes,
} from './harness.ts'

/** An agent that calls these tools in parallel. */
function runTools(tracer: Tracer, names: readonly string[]) {
  const agent = open(tracer, 'invoke_agent shop', agentAttributes('shop'))
  const tools = names.map((name) => open(tracer, `execute_tool ${name}`, toolAttributes(name), agent))
  for (const tool of tools) tool.end()
  open(tracer, 'chat gpt-test', chatAttributes(), agent).end()
  agent.end()
  return { agent: agent.spanContext(), tools: tools.map((tool) => tool.spanContext()) }
}

/** `refund` passes, `search` is none of its business, the others fail, and `broken` throws. */
function refunds(options: { readonly inline?: boolean } = {}): Scorer {
  return createScorer({
    id: 'refunds',
    description: 'Test.',
    level: 'tool-call',
    version: 1,
    ...options,
  }).generateScore(({ call }) => {
    if (call.name === 'broken') throw new Error('no')
    if (call.name === 'search') return { status: 'skipped', reason: 'not-applicable', message: 'It is no refund.' }
    return Number(call.name === 'refund')
  })
}

test('each call has an event and a late span with the ids of its own span, and the agent has the sum', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: [refunds({ inline: true })], upstreamProbability: 1 })
  const { receiver, tracer, flush } = await createPipeline({ processors: (batch) => [scoring, batch] })
  const { agent, tools } = runTools(tracer, ['refund', 'payout', 'search', 'broken'])
  await flush()

  const [refund, payout, , broken] = tools
  expect(
    receiver.logs.map(({ spanId, attributes }) => ({
      spanId,
      score: attributes['gen_ai.evaluation.score.value'],
      call: attributes['gen_ai.tool.call.id'],
      tool: attributes['gen_ai.tool.name'],
      level: attributes['spanscore.level'],
      error: attributes['error.type'],
    })),
  ).toEqual([
    { spanId: refund?.spanId, score: 1, call: 'call_refund', tool: 'refund', level: 'tool-call' },
    { spanId: payout?.spanId, score: 0, call: 'call_payout', tool: 'payout', level: 'tool-call' },
    { spanId: broken?.spanId, call: 'call_broken', tool: 'broken', level: 'tool-call', error: 'scorer-threw' },
  ])
  expect(receiver.logs.every(({ traceId }) => traceId === agent.traceId)).toBe(true)
  expect(receiver.logs.some(({ attributes }) => 'gen_ai.response.id' in attributes)).toBe(false)

  const late = receiver.spans.filter(({ name }) => name === 'evaluate refunds')
  expect(late.map(({ parentSpanId }) => parentSpanId)).toEqual([refund?.spanId, payout?.spanId, broken?.spanId])
  expect(late[1]?.attributes).toMatchObject({ 'spanscore.refunds.score': 0, 'spanscore.level': 'tool-call' })

  const span = receiver.spans.find(({ name }) => name === 'invoke_agent shop')
  expect(span?.attributes).toMatchObject({
    'spanscore.refunds.score': 0.5,
    'spanscore.refunds.label': 'fail',
    'spanscore.refunds.calls': 2,
    'spanscore.refunds.calls_failed': 1,
    'spanscore.refunds.explanation': '1 of 2 tool calls fails: payout 0',
  })

  const value = (name: string, attributes: Record<string, string> = {}) =>
    receiver.metrics.findLast(
      (metric) =>
        metric.name === name && Object.entries(attributes).every(([key, text]) => metric.attributes[key] === text),
    )?.value
  expect(value('spanscore.sum.w', { 'gen_ai.evaluation.score.label': 'fail' })).toBe(1)
  expect(value('spanscore.sum.w2', { 'gen_ai.evaluation.score.label': 'pass' })).toBe(2)
  expect(value('spanscore.sum.w2', { 'gen_ai.evaluation.score.label': 'fail' })).toBe(2)
  expect(value('spanscore.sum.w2y')).toBe(2)
  expect(value('spanscore.sum.w2y2')).toBe(1)
  expect(value('spanscore.chosen.w', { 'spanscore.outcome': 'scored' })).toBe(2)
  expect(value('spanscore.chosen.w', { 'spanscore.outcome': 'lost' })).toBe(1)
  expect(value('spanscore.evaluations', { 'spanscore.level': 'tool-call', 'spanscore.outcome': 'scored' })).toBe(1)

  expect(scoring.ledger().scorers['refunds']).toMatchObject({
    offered: 1,
    scored: 1,
    calls: { scored: 2, skipped: 1, failed: 1 },
  })
  expectBalanced(scoring.ledger())
})

test('a run that another processor has scored is not scored again, so no call is counted twice', async () => {
  const scorings = [1, 2].map(() => new ScoringSpanProcessor({ scorers: [refunds({ inline: true })] }))
  const { receiver, tracer, flush } = await createPipeline({ processors: (batch) => [...scorings, batch] })
  runTools(tracer, ['refund', 'payout'])
  await flush()
  expect(receiver.logs).toHaveLength(2)
  expect(scorings[1]?.ledger().scorers['refunds']).toMatchObject({
    reasons: { 'already-scored': 1 },
    calls: { scored: 0, skipped: 0, failed: 0 },
  })
})

test('in front of the exporter, the agent gets the sum later, and the calls still have late spans', async () => {
  const { receiver, tracer, flush } = await createPipeline({
    processors: (batch) => [new ScoringSpanProcessor({ scorers: [refunds()], next: batch })],
  })
  runTools(tracer, ['refund'])
  await flush()
  const span = receiver.spans.find(({ name }) => name === 'invoke_agent shop')
  expect(span?.attributes).toMatchObject({ 'spanscore.refunds.score': 1, 'spanscore.refunds.label': 'pass' })
  expect(receiver.spans.filter(({ name }) => name === 'evaluate refunds')).toHaveLength(1)
})

test('of more than 64 calls, those with the lowest scores are written, and all are counted', async () => {
  const scorer = createScorer({ id: 'size', description: 'Test.', level: 'tool-call', inline: true }).generateScore(
    ({ call }) => Number(call.name.slice(1)) / 100,
  )
  const scoring = new ScoringSpanProcessor({ scorers: [scorer] })
  const { receiver, tracer, flush } = await createPipeline({ processors: (batch) => [scoring, batch] })
  runTools(
    tracer,
    Array.from({ length: 80 }, (_, index) => `t${80 - index}`),
  )
  await flush()
  const scores = receiver.logs.map(({ attributes }) => attributes['gen_ai.evaluation.score.value'])
  expect(scores).toEqual(Array.from({ length: 64 }, (_, index) => (index + 1) / 100))
  expect(receiver.spans.find(({ name }) => name === 'invoke_agent shop')?.attributes).toMatchObject({
    'spanscore.size.calls': 80,
  })
  expect(scoring.ledger().scorers['size']?.calls).toEqual({ scored: 80, skipped: 0, failed: 0 })
})

test('scorers of conversations are refused, in both ways in', async () => {
  const conversations = codeScorer('short', { level: 'conversation' })
  const refusal = /expected a scorer of runs or calls, got short, which scores conversations/
  expect(() => new ScoringSpanProcessor({ scorers: [conversations] })).toThrow(refusal)
  expect(() => attachScoring({ scorers: [conversations] })).toThrow(refusal)
})

import { createTraceState, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api'
import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import type { Evaluation } from '../../src/model/score.ts'
import { codeScorer, createPipeline, runAgent } from './harness.ts'

/** A caller in another process, with any tracestate. */
function caller(ot: string | undefined) {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: Math.random().toString(16).slice(2).padEnd(32, '1').slice(0, 32),
    spanId: '2'.repeat(16),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
    ...(ot !== undefined && { traceState: createTraceState(`ot=${ot}`) }),
  })
}

async function createScoring(options: Partial<ScoringOptions>) {
  const seen: Evaluation[] = []
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  attachScoring({
    scorers: [
      codeScorer('exact', { assess: (run) => ({ status: 'scored', value: run.agent.name === 'good' ? 1 : 0 }) }),
    ],
    onScore: (evaluation) => void seen.push(evaluation),
    ...options,
  })
  const sum = async (name: string): Promise<number> => {
    await pipeline.flush()
    const latest = new Map<string, number>()
    for (const metric of pipeline.receiver.metrics) {
      if (metric.name === name) latest.set(JSON.stringify(metric.attributes), metric.value ?? 0)
    }
    return [...latest.values()].reduce((total, value) => total + value, 0)
  }
  return { ...pipeline, seen, sum }
}

test('a mean represents the runs that this process saw, and no stranger can manipulate it with a header', async () => {
  const { tracer, sum, receiver } = await createScoring({})
  for (let run = 0; run < 99; run += 1) runAgent(tracer, 'bad')
  runAgent(tracer, 'good', caller('th:fffffffffffff'))
  expect(await sum('spanscore.sum.w')).toBe(100)
  expect(await sum('spanscore.sum.wy')).toBe(1)
  expect(receiver.logs.at(-1)?.attributes).toMatchObject({ 'spanscore.probability': 1 })
  expect(receiver.logs.at(-1)?.attributes).not.toHaveProperty('spanscore.upstream_probability')
})

test('runs below remote callers, with and without tracestate, are weighted by the rate at which spanscore chose them', async () => {
  const { tracer, seen } = await createScoring({ sample: (run) => (run.agent.name === 'good' ? 1 : 0.25) })
  for (const ot of [undefined, 'th:8', 'rv:9b8233f7e3a151']) runAgent(tracer, 'good', caller(ot))
  while (seen.length < 6) runAgent(tracer, 'bad', caller('th:8'))
  expect(seen.map(({ probability }) => probability)).toEqual([1, 1, 1, 0.25, 0.25, 0.25])
})

test('the configured sampler probability is a separate attribute, and multiplies the weight', async () => {
  const { tracer, sum, receiver } = await createScoring({ upstreamProbability: 0.1 })
  runAgent(tracer, 'good', caller('th:fffffffffffff'))
  expect(await sum('spanscore.sum.w')).toBeCloseTo(10, 9)
  expect(receiver.logs[0]?.attributes).toMatchObject({
    'spanscore.probability': 1,
    'spanscore.upstream_probability': 0.1,
  })
})

test('tracestate is used if the application trusts it, and a mix with traces without it is reported', async () => {
  const { tracer, sum, diagnostics } = await createScoring({ upstreamProbability: 'tracestate' })
  runAgent(tracer, 'good', caller('th:c'))
  expect(await sum('spanscore.sum.w')).toBe(4)
  expect(diagnostics.filter((line) => line.includes('tracestate'))).toEqual([])
  runAgent(tracer, 'good', caller(undefined))
  runAgent(tracer, 'good', caller(undefined))
  expect(await sum('spanscore.sum.w')).toBe(6)
  expect(diagnostics.filter((line) => line.includes('tracestate'))).toHaveLength(1)
})

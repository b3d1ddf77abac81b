import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import type { ScoringOptions } from '../../src/processor/config/scoring-options.ts'
import { codeScorer, createPipeline, runAgent } from './harness.ts'

const options = (more: Partial<ScoringOptions> = {}): ScoringOptions => ({ scorers: [codeScorer('exact')], ...more })

async function createMetrics() {
  const pipeline = await createPipeline({ processors: (batch) => [batch] })
  return {
    ...pipeline,
    /** The latest value that arrived of a metric with one series. */
    total: async (name: string): Promise<number | undefined> => {
      await pipeline.flush()
      return pipeline.receiver.metrics.findLast((metric) => metric.name === name)?.value
    },
  }
}

test('two processors that one meter provider tells of are counted together', async () => {
  const { tracer, total } = await createMetrics()
  attachScoring(options())
  const other = new BasicTracerProvider()
  attachScoring(options({ tracerProvider: other }))
  runAgent(tracer)
  runAgent(other.getTracer('other'))
  runAgent(other.getTracer('other'))
  expect(await total('spanscore.evaluations')).toBe(3)
  expect(await total('spanscore.runs')).toBe(3)
})

test('counters go on where a processor that was detached left them', async () => {
  const { tracer, total } = await createMetrics()
  const first = attachScoring(options())
  runAgent(tracer)
  await first.detach()
  attachScoring(options())
  runAgent(tracer)
  expect(await total('spanscore.evaluations')).toBe(2)
  expect(await total('spanscore.sum.w')).toBe(2)
})

test('runs and failures are counted where nothing ever scores', async () => {
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

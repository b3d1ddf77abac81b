import { ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api'
import type { Context } from '@opentelemetry/api'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  ParentBasedSampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import type { Sampler } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import type { Evaluation } from '../../src/model/score.ts'
import { codeScorer } from './harness.ts'

const caller = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: TraceFlags.SAMPLED, isRemote: true }
const FROM_CALLER = trace.setSpanContext(ROOT_CONTEXT, caller)

/** A sampler of another make. */
const other: Sampler = {
  shouldSample: () => ({ decision: SamplingDecision.RECORD_AND_SAMPLED }),
  toString: () => 'Other',
}

/** The probability that the score of an agent has that runs below an HTTP request, itself below `parent`. */
function probabilityUnder(sampler: Sampler | undefined, parent: Context, rate = 1): number | undefined {
  const seen: Evaluation[] = []
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [], ...(sampler && { sampler }) })
  attachScoring({
    tracerProvider,
    scorers: [codeScorer('exact')],
    sample: () => rate,
    onScore: (evaluation) => seen.push(evaluation),
  })
  for (let run = 0; run < 200 && seen.length === 0; run += 1) {
    const request = tracerProvider.getTracer('http').startSpan('GET /', {}, parent)
    const below = trace.setSpan(parent, request)
    const attributes = { 'gen_ai.operation.name': 'invoke_agent' }
    tracerProvider.getTracer('app').startSpan('invoke_agent a', { attributes }, below).end()
    request.end()
  }
  return seen[0]?.probability
}

test.each([
  ['the default sampler', undefined, 1],
  ['always on', new AlwaysOnSampler(), 1],
  ['a quarter by trace id', new TraceIdRatioBasedSampler(0.25), 0.25],
  [
    'a quarter of the traces that begin here',
    new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.25) }),
    0.25,
  ],
  ['a sampler of another make', other, undefined],
])('%s tells by itself with what probability a run is seen', (_, sampler, here) => {
  expect(probabilityUnder(sampler, ROOT_CONTEXT)).toBe(here)
})

test('below a caller that has decided, the probability is not known where the sampler follows the caller', () => {
  expect(probabilityUnder(undefined, FROM_CALLER)).toBeUndefined()
  expect(probabilityUnder(new AlwaysOnSampler(), FROM_CALLER)).toBe(1)
})

test('the rate of spanscore multiplies it', () => {
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) })
  expect(probabilityUnder(sampler, ROOT_CONTEXT, 0.5)).toBe(0.25)
})

test('the sampler of another provider says nothing', () => {
  const seen: Evaluation[] = []
  const processor = new ScoringSpanProcessor({
    tracerProvider: new BasicTracerProvider(),
    scorers: [codeScorer('exact')],
    onScore: (evaluation) => seen.push(evaluation),
  })
  const mine = new BasicTracerProvider({ spanProcessors: [processor] })
  mine
    .getTracer('app')
    .startSpan('invoke_agent a', { attributes: { 'gen_ai.operation.name': 'invoke_agent' } })
    .end()
  expect(seen[0]).not.toHaveProperty('probability')
})

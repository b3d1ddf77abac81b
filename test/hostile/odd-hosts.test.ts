import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Tracer } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import type { SpanProcessor } from '@opentelemetry/sdk-trace'
import { afterEach, expect, test } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { readJudgeReport } from '../../src/scoring/read-verdict.ts'
import { agentAttributes, codeScorer, expectBalanced, judgeScorer, runAgent } from '../processor/harness.ts'
import { noteUnhandledRejections } from '../unhandled-rejections.ts'

const unhandled = noteUnhandledRejections()

afterEach(() => context.disable())

const quiet: SpanProcessor = {
  onStart: () => undefined,
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
}

async function scoreOneRun(options: Partial<ScoringOptions>) {
  const scoring = new ScoringSpanProcessor({
    scorers: [codeScorer('c'), judgeScorer('j')],
    next: quiet,
    flushTimeoutMs: 500,
    shutdownTimeoutMs: 500,
    ...options,
  })
  runAgent(new TracerProvider({ spanProcessors: [scoring] }).getTracer('app'))
  await scoring.forceFlush()
  await scoring.shutdown()
  await new Promise((resolve) => setImmediate(resolve))
  expectBalanced(scoring.ledger())
  return scoring.ledger()
}

test('a span that cannot be extended is scored, and leaves no score pending', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('c'), judgeScorer('j')], next: quiet })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  const span = tracer.startSpan('invoke_agent a', { attributes: agentAttributes('a') }, ROOT_CONTEXT)
  Object.preventExtensions(span)
  span.end()
  await scoring.forceFlush()
  for (const row of Object.values(scoring.ledger().scorers)) expect(row).toMatchObject({ offered: 1, scored: 1 })
})

test('what onScore writes to an evaluation changes neither the ledger nor the next one', async () => {
  const seen: unknown[] = []
  const ledger = await scoreOneRun({
    onScore: (evaluation) => {
      seen.push(evaluation.scorer.id)
      for (const part of [evaluation, evaluation.scorer, evaluation.score, evaluation.judge]) {
        expect(part === undefined || Object.isFrozen(part)).toBe(true)
      }
      Object.assign(evaluation.scorer, { id: 'other' })
    },
  })
  expect(seen.toSorted()).toEqual(['c', 'j'])
  expect(ledger.scorers).toMatchObject({ c: { scored: 1, pending: 0 }, j: { scored: 1, pending: 0 } })
})

/** A judge whose client traces its requests, also after it was given up. */
function tracedJudge(tracerOf: () => Tracer | undefined, over: () => void) {
  return judgeScorer('j', {
    assess: async () => {
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const span = tracerOf()?.startSpan('POST judge')
        await new Promise((resolve) => setTimeout(resolve, 20))
        span?.end()
      }
      over()
      return { status: 'scored', value: 1 }
    },
  })
}

test.each(['attached, then detached', 'beside'] as const)(
  'spans of a judge reach no exporter of the SDK, with no context manager: %s',
  async (where) => {
    const exporter = new InMemorySpanExporter()
    const simple = new SimpleSpanProcessor({ exporter })
    const over = Promise.withResolvers<void>()
    let tracer: Tracer | undefined
    const scorers = [tracedJudge(() => tracer, over.resolve)]
    const beside = where === 'beside' ? [new ScoringSpanProcessor({ scorers })] : []
    const provider = new TracerProvider({ spanProcessors: [...beside, simple] })
    const attached = where === 'beside' ? undefined : attachScoring({ scorers, tracerProvider: provider })
    tracer = provider.getTracer('http')
    runAgent(tracer)
    await new Promise((resolve) => setTimeout(resolve, 10))
    await attached?.detach()
    await over.promise
    runAgent(tracer)
    const names = exporter.getFinishedSpans().map(({ name }) => name)
    expect(names.filter((name) => name === 'POST judge')).toEqual([])
    expect(names.filter((name) => name.startsWith('invoke_agent'))).toHaveLength(2)
    await provider.shutdown()
  },
)

test('with a context manager, detaching restores the processors of the provider', async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const simple = new SimpleSpanProcessor({ exporter: new InMemorySpanExporter() })
  const provider = new TracerProvider({ spanProcessors: [simple] })
  const active: unknown = Reflect.get(provider, '_activeSpanProcessor')
  if (typeof active !== 'object' || active === null) throw new Error('expected the SDK to have a list of processors')
  const scoring = attachScoring({ scorers: [judgeScorer('j')], tracerProvider: provider })
  await scoring.detach()
  expect(Reflect.get(active, '_spanProcessors')).toEqual([simple])
})

test.each([Infinity, 1e300, -1, Number.NaN, '5', 10n])('%s is no number of calls that a judge made', (calls) => {
  expect(readJudgeReport({ model: 'm', calls, usage: {} }, undefined)).toMatchObject({ calls: 1 })
})

test('bytes and times that a scorer changes are exported as they were', async () => {
  const exporter = new InMemorySpanExporter()
  const seen: unknown[] = []
  const write = codeScorer('a', {
    assess: ({ attributes }) => {
      for (const value of Object.values(attributes)) {
        if (value instanceof Uint8Array) value[0] = 66
        if (value instanceof Date) value.setTime(66)
      }
      return { status: 'scored', value: 1 }
    },
  })
  const read = codeScorer('b', {
    assess: ({ attributes }) => {
      seen.push(attributes['bytes'], attributes['time'])
      return { status: 'scored', value: 1 }
    },
  })
  const scoring = new ScoringSpanProcessor({ scorers: [write, read], next: new SimpleSpanProcessor({ exporter }) })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  const span = tracer.startSpan('invoke_agent a', { attributes: agentAttributes('a') }, ROOT_CONTEXT)
  const attributes: unknown = Reflect.get(span, 'attributes')
  // SDK 3.x has byte arrays; an application may write anything.
  Object.assign(attributes as object, { bytes: new Uint8Array([1, 2]), time: new Date(0) })
  span.end()
  expect(exporter.getFinishedSpans()[0]?.attributes).toMatchObject({ bytes: new Uint8Array([1, 2]), time: new Date(0) })
  expect(seen).toEqual(['AQI=', '1970-01-01T00:00:00.000Z'])
})

test.each<[string, () => unknown]>([
  ['throws', () => thrown()],
  ['gives no text', () => ({ toString: () => 'th:fffffffffffff' })],
])('a trace state that %s leaves the run with the weight of one', async (_, get) => {
  const traceState = { get, set: () => traceState, unset: () => traceState, serialize: () => '' } as never
  const parent = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1, isRemote: true, traceState }
  const scoring = new ScoringSpanProcessor({
    scorers: [codeScorer('c')],
    next: quiet,
    upstreamProbability: 'tracestate',
  })
  runAgent(
    new TracerProvider({ spanProcessors: [scoring] }).getTracer('app'),
    'a',
    trace.setSpanContext(ROOT_CONTEXT, parent),
  )
  await scoring.forceFlush()
  await new Promise((resolve) => setImmediate(resolve))
  expect(scoring.ledger().scorers['c']).toMatchObject({ offered: 1, scored: 1 })
  expect(unhandled).toEqual([])
})

function thrown(): never {
  throw new Error('get')
}

// oxlint-disable unicorn/no-thenable -- thenables that misbehave are what is tested here
import { ROOT_CONTEXT } from '@opentelemetry/api'
import type { Span, Tracer } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace'
import { describe, expect, test } from 'vitest'

import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createKeywordCoverageScorer } from '../../src/scorers/code/keyword-coverage.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { agentAttributes, codeScorer, expectBalanced, judgeScorer, open, runAgent, toolAttributes } from './harness.ts'
import { noteUnhandledRejections } from '../unhandled-rejections.ts'

/** Values that cannot be shown, looked at or awaited in the usual ways. */
const hostile: Readonly<Record<string, () => unknown>> = {
  'an object without a JSON form': () => ({ toJSON: () => undefined }),
  'an object without a prototype': () => Object.assign(Object.create(null), { toJSON: () => undefined }),
  'a toJSON that throws': () => ({
    toJSON() {
      throw new Error('toJSON')
    },
  }),
  'a symbol': () => Symbol('s'),
  'an error whose message is a symbol': () => Object.assign(new Error('x'), { message: Symbol('m') }),
  'an error whose stack throws': () =>
    Object.defineProperty(new Error('x'), 'stack', {
      get() {
        throw new Error('stack')
      },
    }),
  'a proxy whose traps throw': () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error('get')
        },
        has() {
          throw new Error('has')
        },
        ownKeys() {
          throw new Error('ownKeys')
        },
        getPrototypeOf() {
          throw new Error('getPrototypeOf')
        },
      },
    ),
  'a revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  'a thenable that throws': () => ({
    then() {
      throw new Error('then')
    },
  }),
  'a thenable that throws what cannot be shown': () => ({
    then() {
      throw Object.create(null)
    },
  }),
  'a thenable that resolves twice and throws': () => ({
    then(resolve: (value: unknown) => void) {
      resolve(1)
      resolve(2)
      throw new Error('then')
    },
  }),
  'a getter of then that throws': () =>
    Object.defineProperty({}, 'then', {
      get() {
        throw new Error('then')
      },
    }),
  'a function with a hostile name': () => Object.defineProperty(() => 1, 'name', { value: Symbol('n') }),
  'a bigint': () => 10n ** 400n,
  'a verdict whose status throws': () => ({
    get status() {
      throw new Error('status')
    },
  }),
  'a verdict whose explanation throws': () => ({
    status: 'scored',
    value: 1,
    get explanation() {
      throw new Error('explanation')
    },
  }),
  'a verdict whose judge throws': () => ({
    status: 'scored',
    value: 1,
    get judge() {
      throw new Error('judge')
    },
  }),
  'a verdict of a judge without usage': () => ({ status: 'scored', value: 1, judge: { model: 'm', calls: 1 } }),
  'a verdict with absurd amounts': () => ({
    status: 'scored',
    value: 1,
    judge: { model: {}, calls: Number.NaN, usage: { inputTokens: 1e300, outputTokens: -1 }, costUsd: Number.NaN },
  }),
  'a skip for an object': () => ({ status: 'skipped', reason: { a: 1 }, message: 5 }),
  'a failure for no code': () => ({ status: 'failed', code: '__proto__' }),
}

class Sink implements SpanProcessor {
  readonly ended: string[] = []
  started = 0
  onStart() {
    this.started += 1
  }
  onEnd(span: { readonly name: string }) {
    this.ended.push(span.name)
  }
  async forceFlush() {}
  async shutdown() {}
}

const unhandled = noteUnhandledRejections()

/** Plays three runs, a flush and a shutdown: nothing is thrown, no span is lost or doubled, and every score is accounted for. */
async function expectSurvival(options: Partial<ScoringOptions>, more: { readonly next?: SpanProcessor } = {}) {
  const sink = new Sink()
  const scoring = new ScoringSpanProcessor({
    scorers: [codeScorer('c'), judgeScorer('j')],
    next: more.next ?? sink,
    timeoutMs: 200,
    flushTimeoutMs: 1000,
    shutdownTimeoutMs: 500,
    ...options,
  })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  for (let index = 0; index < 3; index += 1) runAgent(tracer)
  await scoring.forceFlush()
  await scoring.shutdown()
  await new Promise((resolve) => setImmediate(resolve))
  expect(unhandled).toEqual([])
  expectBalanced(scoring.ledger())
  for (const { pending, offered } of Object.values(scoring.ledger().scorers)) expect([offered, pending]).toEqual([3, 0])
  expect(sink.ended).toHaveLength(more.next === undefined ? 9 : 0)
  return scoring.ledger()
}

const throwing = (make: () => unknown) => () => {
  throw make()
}
const rejecting = (make: () => unknown) => (): Promise<never> => Promise.reject(make())

/** A scorer that is written by hand, without any of our checks. */
function rawScorer(id: string, kind: 'code' | 'judge', assess: () => unknown, inline = false): Scorer {
  const judge = {
    model: 'a/b',
    priced: false,
    estimate: () => ({ calls: Number.NaN, tokens: Number.NaN, costUsd: Number.NaN }),
    unavailable: () => undefined,
  }
  return {
    ...codeScorer(id),
    kind,
    inline,
    assess: assess as Scorer['assess'],
    ...(kind === 'judge' && { judge }),
  }
}

describe.each(Object.entries(hostile))('%s', (_name, make) => {
  test('returned by scorers, synchronously or later, leads to one result each', async () => {
    const ledger = await expectSurvival({
      scorers: [
        rawScorer('inline', 'code', make, true),
        rawScorer('deferred', 'code', make),
        rawScorer('asynchronous', 'code', async () => make()),
        rawScorer('judged', 'judge', make),
      ],
    })
    expect(ledger.runs).toMatchObject({ seen: 3, closed: 3 })
  })

  test('thrown by scorers, synchronously or later, is a failure', async () => {
    const ledger = await expectSurvival({
      scorers: [
        rawScorer('inline', 'code', throwing(make), true),
        rawScorer('asynchronous', 'code', rejecting(make)),
        rawScorer('judged', 'judge', rejecting(make)),
      ],
    })
    for (const { failed } of Object.values(ledger.scorers)) expect(failed).toBe(3)
  })

  test('thrown, rejected with or returned by callbacks does not reach the application', async () => {
    for (const fault of [throwing(make), rejecting(make), make]) {
      expect.hasAssertions()
      await expectSurvival({ onScore: fault, onJudgeCall: fault, redact: fault as never })
      await expectSurvival({ scorers: [{ scorer: codeScorer('c'), when: fault as never }] })
      await expectSurvival({ scorers: [{ scorer: judgeScorer('j'), sample: fault as never }] })
      await expectSurvival({
        scorers: [
          {
            ...rawScorer('j', 'judge', async () => ({ status: 'scored', value: 1 })),
            judge: { model: 'm', priced: false, estimate: fault as never, unavailable: fault as never },
          },
        ],
      })
    }
  })

  test('thrown by the processors behind and by providers costs no score', async () => {
    const fault = throwing(make)
    const next = { onStart: fault, onEnding: fault, onEnd: fault, forceFlush: fault, shutdown: fault } as SpanProcessor
    const first = await expectSurvival({}, { next })
    expect(first.scorers).toMatchObject({ c: { scored: 3 }, j: { scored: 3 } })
    const late = { onStart() {}, onEnd() {}, forceFlush: rejecting(make), shutdown: rejecting(make) }
    await expectSurvival({}, { next: late })
    const second = await expectSurvival({
      meterProvider: { getMeter: fault },
      loggerProvider: { getLogger: fault },
      tracerProvider: { getTracer: fault },
      emit: { lateSpans: 'always' },
    })
    expect(second.scorers).toMatchObject({ c: { scored: 3 }, j: { scored: 3 } })
  })
})

test('a meter provider that throws affects no event, no attribute and no judge score', async () => {
  const events: unknown[] = []
  const broken = {
    getMeter: () => {
      throw new Error('half-initialised')
    },
  }
  const spans: { readonly attributes: Readonly<Record<string, unknown>> }[] = []
  const next = { ...emptyProcessor, onEnd: (span: never) => void spans.push(span) }
  const ledger = await expectSurvival(
    {
      meterProvider: broken,
      loggerProvider: { getLogger: () => ({ emit: (record) => void events.push(record) }) },
    },
    { next },
  )
  expect(ledger.runs).toMatchObject({ seen: 3, closed: 3, open: 0 })
  expect(events).toHaveLength(6)
  const agents = spans.filter(({ attributes }) => 'spanscore.j.score' in attributes)
  expect(agents).toHaveLength(3)
})

const emptyProcessor = { onStart() {}, onEnd() {}, forceFlush: async () => {}, shutdown: async () => {} }

const CALLBACKS = ['scorer', 'judge', 'when', 'sample', 'redact', 'onScore', 'onJudgeCall', 'meter', 'logger'].concat(
  // The `then` of what they return runs later, and is their code, too.
  ['scorer.then', 'when.then', 'sample.then', 'redact.then', 'onScore.then', 'onJudgeCall.then'],
)

test.each(CALLBACKS)('spans that %s starts are neither recorded nor scored, with no context manager', async (which) => {
  const sink = new Sink()
  let tracer: Tracer | undefined
  let made = 0
  const agent = (): void => {
    made += 1
    if (made > 20) return
    tracer?.startSpan('inner', { attributes: agentAttributes('inner') }, ROOT_CONTEXT).end()
  }
  const on = (name: string) => name === which && agent()
  const result = <T>(name: string, value: T): T => {
    const then = (resolve: (settled: T) => void): void => {
      on(`${name}.then`)
      resolve(value)
    }
    return which === `${name}.then` ? ({ then } as T) : value
  }
  const call = { scorerId: '', runId: '', attempt: 1, model: 'm', prompt: { instructions: '', user: '' } }
  const scoring = new ScoringSpanProcessor({
    scorers: [
      {
        scorer: codeScorer('c', { assess: () => (on('scorer'), result('scorer', { status: 'scored', value: 1 })) }),
        when: () => (on('when'), result('when', true)),
        sample: () => (on('sample'), result('sample', 1)),
      },
      judgeScorer('j', {
        assess: async (_run, context) => {
          await new Promise((resolve) => setTimeout(resolve, 1))
          on('judge')
          context.onJudgeCall?.({ ...call, usage: {}, durationMs: 1 })
          return { status: 'scored', value: 1 }
        },
      }),
    ],
    next: sink,
    redact: (run) => (on('redact'), result('redact', run)),
    onScore: () => (on('onScore'), result('onScore', undefined)),
    onJudgeCall: () => (on('onJudgeCall'), result('onJudgeCall', undefined)),
    meterProvider: { getMeter: () => (on('meter'), noMeter) } as never,
    loggerProvider: { getLogger: () => ({ emit: () => void on('logger') }) },
  })
  tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  runAgent(tracer)
  await scoring.forceFlush()
  await scoring.shutdown()
  expect(made).toBeGreaterThan(0)
  expect(sink.ended.filter((name) => name === 'inner')).toEqual([])
  expect(sink.started).toBe(3)
  expect(scoring.ledger().runs.seen).toBe(1)
})

const instrument = { record() {}, addCallback() {}, add() {} }
const noMeter = {
  createHistogram: () => instrument,
  createCounter: () => instrument,
  createObservableGauge: () => instrument,
}

test('spans of a judge that end during a shutdown, or after it, reach no exporter', async () => {
  const sink = new Sink()
  let tracer: Tracer | undefined
  const opened: Span[] = []
  const finished = Promise.withResolvers<void>()
  const slow = judgeScorer('j', {
    assess: async () => {
      for (let attempt = 0; attempt < 8; attempt += 1) {
        const span = tracer?.startSpan('POST judge')
        if (span) opened.push(span)
        await new Promise((resolve) => setTimeout(resolve, 20))
        span?.end()
      }
      finished.resolve()
      return { status: 'scored', value: 1 }
    },
  })
  const scoring = new ScoringSpanProcessor({ scorers: [slow], next: sink, shutdownTimeoutMs: 60 })
  const provider = new TracerProvider({ spanProcessors: [scoring] })
  tracer = provider.getTracer('http')
  runAgent(tracer)
  while (opened.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  await provider.shutdown()
  await finished.promise
  expect(opened).toHaveLength(8)
  expect(sink.ended.filter((name) => name === 'POST judge')).toEqual([])
  expect(sink.started).toBe(3)
})

test.each([new Date(Number.NaN), Number.NaN, 1e300])('a run that ended at %s has a score with a time', async (end) => {
  const times: unknown[] = []
  const late = { onEnd: (span: ReadableSpan) => void times.push(span.startTime, span.endTime) }
  const logger = { emit: ({ timestamp }: { timestamp?: unknown }) => void times.push(timestamp) }
  const scoring = new ScoringSpanProcessor({
    scorers: [codeScorer('c')],
    emit: { lateSpans: 'always' },
    tracerProvider: new TracerProvider({ spanProcessors: [{ ...emptyProcessor, ...late }] }),
    loggerProvider: { getLogger: () => logger },
  })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  tracer.startSpan('invoke_agent a', { attributes: agentAttributes('a') }, ROOT_CONTEXT).end(end)
  await scoring.forceFlush()
  const nowSeconds = Date.now() / 1000
  expect(times).toHaveLength(3)
  for (const time of times) expect(time).toEqual([expect.closeTo(nowSeconds, -2), expect.any(Number)])
})

test.each([
  ['because it takes too long', { timeoutMs: 20 }],
  ['by a shutdown', { shutdownTimeoutMs: 20 }],
])('spans that a judge starts when it is aborted %s reach no exporter, and no scorer', async (_, options) => {
  const sink = new Sink()
  let tracer: Tracer | undefined
  const aborted = Promise.withResolvers<void>()
  const slow = judgeScorer('j', {
    assess: (_run, { signal }) =>
      new Promise(() => {
        signal.addEventListener('abort', () => {
          tracer?.startSpan('cleanup', { attributes: agentAttributes('cleanup') }).end()
          aborted.resolve()
        })
      }),
  })
  const scoring = new ScoringSpanProcessor({ scorers: [slow], next: sink, ...options })
  const provider = new TracerProvider({ spanProcessors: [scoring] })
  tracer = provider.getTracer('http')
  runAgent(tracer)
  await new Promise((resolve) => setTimeout(resolve, 40))
  await provider.shutdown()
  await aborted.promise
  expect(sink.ended).not.toContain('cleanup')
  expect(scoring.ledger().runs.seen).toBe(1)
})

test('what a scorer writes to a run is neither exported nor seen by the next scorer', async () => {
  const spans: ReadableSpan[] = []
  const spoil = (value: unknown, depth = 0): void => {
    if (typeof value !== 'object' || value === null || depth > 6) return
    for (const inner of Object.values(value)) spoil(inner, depth + 1)
    try {
      if (Array.isArray(value)) value.push('SPOILT')
      else Reflect.set(value, 'service.name', 'SPOILT')
    } catch {
      // A frozen run is protected too.
    }
  }
  const seen: string[] = []
  const rude = codeScorer('rude', {
    assess: (run) => {
      for (const part of [run.resource, run.scope, run.attributes, run.agent]) spoil(part)
      for (const call of run.toolCalls) spoil([call.arguments, call.result])
      return { status: 'scored', value: 1 }
    },
  })
  const next = codeScorer('polite', {
    assess: (run) => {
      seen.push(String(run.resource['service.name']))
      return { status: 'scored', value: 1 }
    },
  })
  const sink = { ...emptyProcessor, onEnd: (span: ReadableSpan) => void spans.push(span) }
  const scoring = new ScoringSpanProcessor({ scorers: [rude], next: sink })
  const other = new ScoringSpanProcessor({ scorers: [next] })
  const resource = resourceFromAttributes({ 'service.name': 'shop', list: ['a'] })
  for (const value of [new Map(), new Uint8Array(1), new Float32Array(1), new URL('https://a.b'), [new Date()]]) {
    Reflect.set(resource.attributes, value.constructor.name, value)
  }
  const tracer = new TracerProvider({ resource, spanProcessors: [scoring, other] }).getTracer('app')
  runAgent(tracer)
  await scoring.forceFlush()
  expect(JSON.stringify(spans.map((span) => [span.resource.attributes, span.attributes]))).not.toContain('SPOILT')
  expect(seen).toEqual(['shop'])
  // What scorers get is frozen; what belongs to the application is not.
  const { attributes } = resource
  expect([attributes, attributes['list']].map((each) => Object.isFrozen(each))).toEqual([false, false])
})

test('runs and answers that are too large to be read are skipped, and block nothing', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: [createKeywordCoverageScorer({ keywords: ['zz'] })] })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  for (const megabytes of [2, 40]) {
    const attributes = agentAttributes('large', 'q', 'word '.repeat((megabytes * 2 ** 20) / 5))
    tracer.startSpan('invoke_agent large', { attributes }, ROOT_CONTEXT).end()
  }
  await scoring.forceFlush()
  expect(scoring.ledger().scorers['keyword_coverage']).toMatchObject({
    offered: 2,
    skipped: 2,
    reasons: { 'no-content': 2 },
  })
})

test('code does not read more than 4 MiB of a run; judges, and scorers of names and counts, are asked', async () => {
  const scorers = [codeScorer('reads', { needs: ['toolResults'] }), codeScorer('counts'), judgeScorer('judged')]
  const scoring = new ScoringSpanProcessor({ scorers })
  const tracer = new TracerProvider({ spanProcessors: [scoring] }).getTracer('app')
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const result = { ...toolAttributes('t'), 'gen_ai.tool.call.result': 'word '.repeat((20 * 2 ** 20) / 5) }
  open(tracer, 'execute_tool t', result, agent).end()
  agent.end()
  await scoring.forceFlush()
  const scored = { offered: 1, scored: 1 }
  const skipped = { offered: 1, scored: 0, reasons: { 'no-content': 1 } }
  expect(scoring.ledger().scorers).toMatchObject({ reads: skipped, counts: scored, judged: scored })
})

test('log records of any shape throw nothing into the logging of the application', () => {
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('c')] })
  const spanContext = { traceId: 'a', spanId: 'b' }
  const records: unknown[] = [
    undefined,
    null,
    1,
    {},
    { spanContext },
    { spanContext, eventName: 'gen_ai.x' },
    { spanContext, eventName: 'gen_ai.x', attributes: {} },
    { spanContext, eventName: 'gen_ai.x', attributes: {}, hrTime: [0, 0], instrumentationScope: null },
    Object.defineProperty({}, 'spanContext', {
      get() {
        throw new Error('spanContext')
      },
    }),
  ]
  for (const record of records) {
    expect(() => scoring.logRecordProcessor.onEmit(record as never)).not.toThrow()
  }
})

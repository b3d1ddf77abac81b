import { diag } from '@opentelemetry/api'
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'
import { TracerProvider, BatchSpanProcessor, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { expect, test, vi } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import {
  agentAttributes,
  cleanup,
  codeScorer,
  createPipeline,
  createScoring,
  expectBalanced,
  judgeScorer,
  open,
  runAgent,
} from './harness.ts'

const never = () => new Promise<never>(() => undefined)

/** A clock of the process that only scorers move. */
function stopClock(): { passes(ms: number): void } {
  let nowMs = performance.now()
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  cleanup(() => spy.mockRestore())
  return { passes: (ms) => void (nowMs += ms) }
}

const mutate = (run: AgentRun) => {
  try {
    const target = run as unknown as { input: unknown[] }
    target.input.length = 0
  } catch {
    // A frozen run is protected too.
  }
  Reflect.set(run.attributes, 'gen_ai.agent.name', 'spoilt')
  return { status: 'scored', value: 1 } as const
}

const boom = () => {
  throw new Error('boom')
}

const asyncBoom = () => Promise.reject(new Error('later')) as never

test('a scorer that throws is failed: scorer-threw, on the span, in the event, and nowhere in the application', async () => {
  const { tracer, flush, receiver, scoring } = await createScoring({
    scorers: [
      codeScorer('broken', {
        assess: () => {
          throw new Error('from the scorer')
        },
      }),
      codeScorer('later', { inline: false, assess: () => Promise.reject(new Error('later')) }),
    ],
  })
  expect(() => runAgent(tracer)).not.toThrow()
  await flush()
  expect(receiver.spans.find(({ name }) => name.startsWith('invoke_agent'))?.attributes).toMatchObject({
    'spanscore.broken.status': 'failed',
    'spanscore.broken.status_reason': 'scorer-threw',
  })
  expect(receiver.logs.map(({ attributes }) => attributes['error.type'])).toEqual(['scorer-threw', 'scorer-threw'])
  expect(scoring.ledger().scorers).toMatchObject({ broken: { failed: 1 }, later: { failed: 1 } })
})

test('a judge that hangs is judge-timeout after timeoutMs; code that never resolves is scorer-timeout', async () => {
  const { tracer, flush, scoring } = await createScoring({
    scorers: [judgeScorer('hanging', { assess: never }), codeScorer('stuck', { inline: false, assess: never })],
    timeoutMs: 20,
  })
  runAgent(tracer)
  await flush()
  expect(scoring.ledger().scorers).toMatchObject({
    hanging: { failed: 1, reasons: { 'judge-timeout': 1 } },
    stuck: { failed: 1, reasons: { 'scorer-timeout': 1 } },
  })
})

test.each([Number.NaN, 2, -0.5, 'good', undefined, null])('a judge whose value is %s gives no score', async (value) => {
  const { tracer, flush, scoring, receiver } = await createScoring({
    scorers: [judgeScorer('odd', { assess: () => Promise.resolve({ status: 'scored', value: value as number }) })],
  })
  runAgent(tracer)
  await flush()
  expect(scoring.ledger().scorers['odd']).toMatchObject({ failed: 1, reasons: { 'invalid-score': 1 } })
  expect(receiver.metrics.map(({ name }) => name)).not.toContain('spanscore.score')
})

test('a scorer that blocks is reported and runs after the span from then on', async () => {
  const clock = stopClock()
  const assess = () => {
    clock.passes(100)
    return { status: 'scored', value: 1 } as const
  }
  const { tracer, flush, diagnostics, scoring } = await createScoring({ scorers: [codeScorer('slow', { assess })] })
  const scoredInRun = [1, 2, 3].map(() => {
    const { scored = 0 } = scoring.ledger().scorers['slow'] ?? {}
    runAgent(tracer)
    return (scoring.ledger().scorers['slow']?.scored ?? 0) - scored
  })
  expect(scoredInRun).toEqual([1, 1, 0])
  await flush()
  expect(diagnostics.filter((line) => line.includes('Scorer slow took'))).toHaveLength(1)
  expect(scoring.ledger().scorers['slow']).toMatchObject({ offered: 3, scored: 3 })
})

test('a scorer whose calls are slow now and then keeps its scores on the agent spans', async () => {
  const clock = stopClock()
  let calls = 0
  const assess = () => {
    if (calls++ % 3 === 0) clock.passes(20)
    return { status: 'scored', value: 1 } as const
  }
  const { tracer, flush, diagnostics, receiver } = await createScoring({
    scorers: [codeScorer('mostly_quick', { assess })],
  })
  for (let run = 0; run < 9; run += 1) runAgent(tracer)
  await flush()
  expect(diagnostics.filter((line) => line.includes('Scorer mostly_quick took'))).toEqual([])
  expect(receiver.spans.map(({ name }) => name)).not.toContain('evaluate mostly_quick')
  const agents = receiver.spans.filter(({ name }) => name.startsWith('invoke_agent'))
  expect(agents.map(({ attributes }) => attributes['spanscore.mostly_quick.score'])).toEqual(Array(9).fill(1))
})

test('an inline scorer that returns a promise is awaited, and runs later if it does so again', async () => {
  const { tracer, flush, scoring, diagnostics } = await createScoring({
    scorers: [codeScorer('async', { assess: () => Promise.resolve({ status: 'scored', value: 1 }) })],
  })
  runAgent(tracer)
  runAgent(tracer)
  await flush()
  expect(diagnostics.filter((line) => line.includes('returned a promise'))).toHaveLength(0)
  runAgent(tracer)
  runAgent(tracer)
  await flush()
  expect(scoring.ledger().scorers['async']).toMatchObject({ scored: 4, pending: 0 })
  expect(diagnostics.filter((line) => line.includes('returned a promise'))).toHaveLength(1)
})

test('a scorer that mutates its input spoils neither the span nor the next scorer', async () => {
  const { tracer, flush, receiver } = await createScoring({ scorers: [codeScorer('rude', { assess: mutate })] })
  runAgent(tracer, 'polite')
  await flush()
  expect(receiver.spans.find(({ name }) => name === 'invoke_agent polite')?.attributes['gen_ai.agent.name']).toBe(
    'polite',
  )
})

test('attribute getters that throw do not reach the application', async () => {
  const { tracer } = await createScoring({ scorers: [codeScorer('exact')] })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  Object.defineProperty(Reflect.get(agent, 'attributes') as object, 'trap', {
    enumerable: true,
    get: () => {
      throw new Error('getter')
    },
  })
  expect(() => agent.end()).not.toThrow()
})

test('an error of when, sample, onScore, redact or estimate affects its own score and no other', async () => {
  const { tracer, flush, scoring } = await createScoring({
    scorers: [
      { scorer: codeScorer('a'), when: boom },
      { scorer: codeScorer('b'), sample: boom },
      { scorer: codeScorer('c'), sample: () => Number.NaN },
      judgeScorer('d'),
      codeScorer('e'),
    ],
    redact: boom,
    onScore: boom,
  })
  expect(() => runAgent(tracer)).not.toThrow()
  await flush()
  expect(scoring.ledger().scorers).toMatchObject({
    a: { failed: 1, reasons: { 'scorer-threw': 1 } },
    b: { failed: 1, reasons: { 'scorer-threw': 1 } },
    c: { failed: 1, reasons: { 'scorer-threw': 1 } },
    d: { failed: 1, reasons: { 'redact-failed': 1 } },
    e: { scored: 1 },
  })
})

test('when, sample and redact that are async fail their score, and reject nowhere', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const { tracer, flush, seen } = await createScoring({
    scorers: [
      { scorer: codeScorer('a'), when: asyncBoom },
      // A promise is truthy, whatever it resolves to.
      { scorer: codeScorer('b'), when: () => Promise.resolve(false) as never },
      { scorer: codeScorer('c'), sample: asyncBoom },
      judgeScorer('d'),
    ],
    redact: asyncBoom,
  })
  runAgent(tracer)
  await flush()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
  expect(Object.fromEntries(seen.map(({ scorer, score }) => [scorer.id, score]))).toMatchObject({
    a: { code: 'scorer-threw', message: 'a: expected when to give true or false, got a promise; it cannot be async.' },
    b: { code: 'scorer-threw' },
    c: {
      code: 'scorer-threw',
      message: expect.stringContaining('expected sample to give a number from 0 to 1, got a promise'),
    },
    d: {
      code: 'redact-failed',
      message: expect.stringContaining('got a promise; it cannot be async; nothing was sent to the judge'),
    },
  })
})

test.each([undefined, null, 'a text', {}, []])(
  'a redact that returns %j instead of a run shows the judge nothing',
  async (given) => {
    const asked: unknown[] = []
    const { tracer, flush, seen } = await createScoring({
      scorers: [
        judgeScorer('d', {
          assess: (run) => {
            asked.push(run)
            return Promise.resolve({ status: 'scored', value: 1 })
          },
        }),
      ],
      redact: () => given as never,
    })
    runAgent(tracer)
    await flush()
    expect(asked).toEqual([])
    expect(seen[0]?.score).toMatchObject({
      code: 'redact-failed',
      message: expect.stringContaining('expected redact to return the run'),
    })
  },
)

test('the message of a failure is logged once for each scorer and code', async () => {
  const { tracer, flush, diagnostics } = await createScoring({
    scorers: [
      codeScorer('broken', { assess: boom }),
      codeScorer('off', { assess: () => ({ status: 'scored', value: 7 }) }),
    ],
  })
  for (let index = 0; index < 3; index += 1) runAgent(tracer)
  await flush()
  expect(diagnostics.filter((line) => /broken threw Error at \S*boom/.test(line))).toHaveLength(1)
  expect(diagnostics.filter((line) => line.includes('off: expected a number from 0 to 1, got 7'))).toHaveLength(1)
})

test('a diag logger that throws does not reach the application', async () => {
  const { tracer, flush } = await createScoring({ scorers: [codeScorer('broken', { assess: boom })] })
  let isBroken = false
  const write = () => isBroken && boom()
  diag.setLogger({ error: write, warn: write, info: write, debug: write, verbose: write })
  isBroken = true
  expect(() => runAgent(tracer)).not.toThrow()
  isBroken = false
  await flush()
})

test('async callbacks that reject lead to one log line each and nothing else', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  const call = {
    model: 'm',
    attempt: 1,
    runId: '',
    scorerId: '',
    prompt: { instructions: '', user: '' },
    usage: {},
    durationMs: 1,
  }
  const asking = judgeScorer('asking', {
    assess: (_run, context) => {
      context.onJudgeCall?.(call)
      return Promise.resolve({ status: 'scored', value: 1 })
    },
  })
  const { tracer, flush, diagnostics } = await createScoring({
    scorers: [asking],
    onScore: () => Promise.reject(new Error('sent nowhere')),
    onJudgeCall: () => Promise.reject(new Error('kept nowhere')),
  })
  runAgent(tracer)
  await flush()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
  expect(diagnostics.filter((line) => / (?:onScore|onJudgeCall) threw Error at /.test(line))).toHaveLength(2)
  // The message of an error may quote the content of a run.
  expect(diagnostics.join()).not.toContain('nowhere')
})

const exporters: Record<string, SpanExporter> = {
  throws: {
    export: () => {
      throw new Error('export')
    },
    shutdown: () => Promise.reject(new Error('shutdown')),
  },
  rejects: {
    export: (_spans, done) => done({ code: 1, error: new Error('refused') }),
    shutdown: () => Promise.reject(new Error('shutdown')),
    forceFlush: () => Promise.reject(new Error('flush')),
  },
  hangs: { export: () => undefined, shutdown: () => Promise.resolve() },
}

test.each(Object.keys(exporters))('an exporter that %s behind us does not reach the application', async (kind) => {
  const next = new BatchSpanProcessor({ exporter: exporters[kind]!, exportTimeoutMillis: 50 })
  const scoring = new ScoringSpanProcessor({ scorers: [judgeScorer('fitting')], next })
  const provider = new TracerProvider({ spanProcessors: [scoring] })
  runAgent(provider.getTracer('agents'))
  await expect(provider.forceFlush()).resolves.toBeUndefined()
  await expect(provider.shutdown()).resolves.toBeUndefined()
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ scored: 1 })
})

test('a processor behind us that throws does not reach the application, nor keep spans from the one beside it', async () => {
  const exported: ReadableSpan[] = []
  const throwing = {
    onStart: () => {
      throw new Error('onStart')
    },
    onEnding: () => {
      throw new Error('onEnding')
    },
    onEnd: () => {
      throw new Error('onEnd')
    },
    forceFlush: () => Promise.reject(new Error('forceFlush')),
    shutdown: () => Promise.reject(new Error('shutdown')),
  }
  const { attachScoring } = await import('../../src/processor/attach/attach.ts')
  const provider = new TracerProvider({
    spanProcessors: [
      throwing,
      new SimpleSpanProcessor({
        exporter: {
          export: (spans, done) => {
            exported.push(...spans)
            done({ code: 0 })
          },
          shutdown: () => Promise.resolve(),
        },
      }),
    ],
  })
  attachScoring({ scorers: [codeScorer('exact')], tracerProvider: provider })
  expect(() => runAgent(provider.getTracer('agents'))).not.toThrow()
  await expect(provider.forceFlush()).resolves.toBeUndefined()
  await expect(provider.shutdown()).resolves.toBeUndefined()
  expect(exported.map(({ name }) => name)).toHaveLength(3)
})

test('a clock that is set back affects no deadline and no score', async () => {
  const { tracer, flush, scoring, seen, receiver } = await createScoring({
    scorers: [judgeScorer('fitting')],
    settleMs: 20,
  })
  const realNow = Date.now
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => realNow() - 3_600_000)
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  open(tracer, 'execute_tool t', { 'gen_ai.operation.name': 'execute_tool' }, agent)
  agent.end()
  spy.mockImplementation(() => realNow() - 7_200_000)
  await expect.poll(() => seen).toHaveLength(1)
  spy.mockRestore()
  await flush()
  expect(receiver.logs[0]?.attributes['spanscore.verdict_delay_ms']).toBe(0)
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ scored: 1 })
})

test('two scoring processors on one provider score once, and each counts for itself', async () => {
  const first = new ScoringSpanProcessor({ scorers: [codeScorer('exact'), judgeScorer('fitting')] })
  const second = new ScoringSpanProcessor({ scorers: [codeScorer('exact'), judgeScorer('fitting')] })
  const { tracer, flush, receiver } = await createPipeline({ processors: (batch) => [first, second, batch] })
  runAgent(tracer)
  await flush()
  expect(receiver.logs).toHaveLength(2)
  expect(receiver.spans.filter(({ name }) => name.startsWith('evaluate'))).toHaveLength(1)
  expect(second.ledger().scorers).toMatchObject({
    exact: { skipped: 1, reasons: { 'already-scored': 1 } },
    fitting: { skipped: 1, reasons: { 'already-scored': 1 } },
  })
  for (const scoring of [first, second]) expectBalanced(scoring.ledger())
})

test('a second copy of the package knows what the first has attached, claimed, and isolated', async () => {
  const first = await import('../../src/processor/attach/attach.ts')
  const isolation = await import('../../src/scoring/isolation.ts')
  vi.resetModules()
  const second = await import('../../src/processor/attach/attach.ts')
  const secondIsolation = await import('../../src/scoring/isolation.ts')
  expect(second.attachScoring).not.toBe(first.attachScoring)
  const provider = new TracerProvider()
  Reflect.set(Reflect.get(provider, '_activeSpanProcessor') as object, '_spanProcessors', [])
  const options = { scorers: [codeScorer('exact')], tracerProvider: provider }
  expect(second.attachScoring(options)).toBe(first.attachScoring(options))
  expect(isolation.isolated(() => secondIsolation.isIsolated())).toBe(true)
  await provider.shutdown()
})

test('without a meter and a logger provider, scores are on spans, and that is logged once', async () => {
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('exact'), judgeScorer('fitting')] })
  const { tracer, provider, receiver, diagnostics } = await createPipeline({
    processors: (batch) => [scoring, batch],
    logs: false,
    metrics: false,
  })
  runAgent(tracer)
  await provider.forceFlush()
  expect(receiver.spans.map(({ name }) => name)).toContain('evaluate fitting')
  expect(
    diagnostics.filter((line) => line.includes('no logger provider') && line.includes('no meter provider')),
  ).toHaveLength(1)
  expectBalanced(scoring.ledger())
})

/** The provider of SDK 1.30 is in this state before it has a processor. */
class EmptyProvider {
  readonly added: SpanProcessor[] = []
  readonly _registeredSpanProcessors = this.added
  getTracer() {
    return undefined as never
  }
  addSpanProcessor(processor: SpanProcessor) {
    this.added.push(processor)
  }
}

test('a provider without processors is scored beside those that it gets later', async () => {
  const { attachScoring } = await import('../../src/processor/attach/attach.ts')
  const tracerProvider = new EmptyProvider()
  const scoring = attachScoring({ scorers: [codeScorer('exact'), judgeScorer('judged')], tracerProvider })
  const { tracer, receiver, flush } = await createPipeline({ processors: (batch) => [...tracerProvider.added, batch] })
  // Late spans go to the provider that was given.
  tracerProvider.getTracer = () => tracer as never
  runAgent(tracer)
  await scoring.forceFlush()
  await flush()
  expect(receiver.spans.map(({ name }) => name).toSorted()).toEqual([
    'chat gpt-test',
    'evaluate judged',
    'execute_tool weather',
    'invoke_agent weather-agent',
  ])
  await scoring.shutdown()
})

test('scoring is not attached to a provider without processors if content must be stripped', async () => {
  const { attachScoring } = await import('../../src/processor/attach/attach.ts')
  const { diagnostics } = await createPipeline({ processors: (batch) => [batch] })
  const tracerProvider = new EmptyProvider()
  const scoring = attachScoring({ scorers: [codeScorer('exact')], tracerProvider, stripContent: true })
  expect(tracerProvider.added).toEqual([])
  expect(
    diagnostics.filter((line) => /Nothing is scored: EmptyProvider has no span processors yet/.test(line)),
  ).toHaveLength(1)
  await scoring.shutdown()
})

test('scoring does not change a provider to which it cannot attach, and logs one line that says what to do', async () => {
  const { attachScoring } = await import('../../src/processor/attach/attach.ts')
  const { diagnostics } = await createPipeline({ processors: (batch) => [batch] })
  class SentryTracerProvider {
    getTracer() {
      return undefined as never
    }
  }
  const scoring = attachScoring({ scorers: [codeScorer('exact')], tracerProvider: new SentryTracerProvider() })
  expect(scoring.ledger().runs.seen).toBe(0)
  expect(
    diagnostics.filter((line) =>
      /Nothing is scored: SentryTracerProvider.*set openTelemetryBasicTracerProvider: true/.test(line),
    ),
  ).toHaveLength(1)
  await scoring.shutdown()
})

test.each([
  ['no usage', { model: 'm', calls: 1 }],
  ['absurd token counts', { model: 'm', calls: 1, usage: { inputTokens: 1.7e308, outputTokens: 1.7e308 } }],
  ['a cost that is not a number', { model: 'm', calls: 1, usage: {}, costUsd: Number.NaN }],
])('a judge that reports %s leaves the weights of later scores finite', async (_, judge) => {
  const { tracer, flush, scoring, seen } = await createScoring({
    scorers: [judgeScorer('j', { assess: async () => ({ status: 'scored', value: 1, judge }) as never })],
    upstreamProbability: 1,
    budget: { tokensPerHour: 1_000_000, callsPerMinute: 1000 },
  })
  for (let count = 0; count < 3; count++) {
    runAgent(tracer)
    await flush()
  }
  expect(seen.map(({ score, probability }) => [score.status, probability])).toEqual(
    Array.from({ length: 3 }, () => ['scored', 1]),
  )
  expect(scoring.ledger().scorers.j).toMatchObject({ scored: 3, pending: 0 })
})

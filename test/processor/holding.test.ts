import { TracerProvider } from '@opentelemetry/sdk-trace'
import type { TracerProviderOptions } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import type { EndedSpan, OpenSpan } from '../../src/spans/sdk-types.ts'
import { cleanup, codeScorer, expectBalanced, judgeScorer, open, runAgent } from './harness.ts'

/** A judge that answers when the test allows it. */
function waitingJudge(id = 'fitting') {
  const waiting: (() => void)[] = []
  const scorer = judgeScorer(id, {
    assess: () =>
      new Promise((resolve) => {
        waiting.push(() => resolve({ status: 'scored', value: 0.75 }))
      }),
  })
  return { scorer, waiting }
}

function createHolding(
  options: Partial<ScoringOptions> & Pick<ScoringOptions, 'scorers'>,
  config: TracerProviderOptions = {},
) {
  const handedOn: EndedSpan[] = []
  const started: OpenSpan[] = []
  const scoring = new ScoringSpanProcessor({
    ...options,
    next: {
      onStart: (span) => void started.push(span),
      onEnd: (span) => void handedOn.push(span),
      forceFlush: () => Promise.resolve(),
      shutdown: () => Promise.resolve(),
    },
  })
  const provider = new TracerProvider({ ...config, spanProcessors: [scoring] })
  cleanup(async () => {
    await provider.shutdown()
    expectBalanced(scoring.ledger())
  })
  return { scoring, provider, tracer: provider.getTracer('agents'), handedOn, started }
}

const names = (spans: readonly EndedSpan[]) => spans.map(({ name }) => name)

test('only agent spans that wait for a score are held; all others pass immediately, in their order', async () => {
  const { scorer, waiting } = waitingJudge()
  const { tracer, handedOn } = createHolding({ scorers: [scorer] })
  const server = open(tracer, 'POST /chat')
  runAgent(tracer, 'a', server)
  server.end()
  open(tracer, 'GET /health').end()
  expect(names(handedOn)).toEqual(['execute_tool weather', 'chat gpt-test', 'POST /chat', 'GET /health'])
  await expect.poll(() => waiting).toHaveLength(1)
  waiting[0]?.()
  await expect.poll(() => names(handedOn).at(-1)).toBe('invoke_agent a')
  expect(handedOn.at(-1)?.attributes).toMatchObject({ 'spanscore.fitting.score': 0.75, 'gen_ai.agent.name': 'a' })
})

test('the original span is never written after its end: next gets a view of it', async () => {
  const { tracer, handedOn } = createHolding({ scorers: [judgeScorer('fitting'), codeScorer('exact')] })
  const agent = runAgent(tracer, 'a')
  const before = { ...(agent as unknown as EndedSpan).attributes }
  await expect.poll(() => handedOn).toHaveLength(3)
  const view = handedOn[2]
  expect((agent as unknown as EndedSpan).attributes).toEqual(before)
  expect(before).toHaveProperty('spanscore.exact.score', 1)
  expect(view?.attributes).toHaveProperty('spanscore.fitting.score', 0.75)
  const original = agent as unknown as EndedSpan
  for (const key of [
    'name',
    'kind',
    'startTime',
    'endTime',
    'duration',
    'status',
    'links',
    'events',
    'resource',
    'instrumentationScope',
    'parentSpanContext',
    'ended',
    'droppedAttributesCount',
  ] as const) {
    expect(view?.[key]).toEqual(original[key])
  }
  expect(view?.spanContext()).toEqual(original.spanContext())
})

test('each held span goes on when its own score is in, whatever others wait for', async () => {
  const { scorer, waiting } = waitingJudge()
  const { tracer, handedOn } = createHolding({ scorers: [scorer] })
  for (const name of ['a', 'b', 'c'])
    open(tracer, `invoke_agent ${name}`, { 'gen_ai.operation.name': 'invoke_agent' }).end()
  await expect.poll(() => waiting).toHaveLength(3)
  waiting[2]?.()
  await expect.poll(() => names(handedOn)).toEqual(['invoke_agent c'])
  waiting[0]?.()
  await expect.poll(() => names(handedOn)).toEqual(['invoke_agent c', 'invoke_agent a'])
  waiting[1]?.()
  await expect.poll(() => names(handedOn)).toEqual(['invoke_agent c', 'invoke_agent a', 'invoke_agent b'])
})

test('after holdMs a span is passed on without its score, which is then written late', async () => {
  const { scorer, waiting } = waitingJudge()
  const { tracer, handedOn, scoring } = createHolding({ scorers: [scorer], holdMs: 20 })
  runAgent(tracer, 'a')
  await expect.poll(() => names(handedOn)).toContain('invoke_agent a')
  expect(handedOn.at(-1)?.attributes).not.toHaveProperty('spanscore.fitting.score')
  waiting[0]?.()
  await expect.poll(() => scoring.ledger().scorers['fitting']?.scored).toBe(1)
})

test('a flush releases held spans after flushTimeoutMs, and the job continues', async () => {
  const { scorer, waiting } = waitingJudge()
  const { tracer, handedOn, scoring, provider } = createHolding({ scorers: [scorer], flushTimeoutMs: 20 })
  runAgent(tracer, 'a')
  await provider.forceFlush()
  expect(names(handedOn)).toContain('invoke_agent a')
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ pending: 1 })
  await expect.poll(() => waiting).toHaveLength(1)
  waiting[0]?.()
  await expect.poll(() => scoring.ledger().scorers['fitting']).toMatchObject({ pending: 0, scored: 1 })
})

test('shutdown adds scores that arrive in time, and gives up the rest', async () => {
  const { scorer, waiting } = waitingJudge()
  const { tracer, handedOn, scoring, provider } = createHolding({ scorers: [scorer], shutdownTimeoutMs: 50 })
  runAgent(tracer, 'quick')
  runAgent(tracer, 'slow')
  await expect.poll(() => waiting).toHaveLength(2)
  const done = provider.shutdown()
  waiting[0]?.()
  await done
  const agents = handedOn.filter(({ name }) => name.startsWith('invoke_agent'))
  expect(agents.map(({ attributes }) => attributes['spanscore.fitting.score'])).toEqual([0.75, undefined])
  expect(agents[1]?.attributes).toMatchObject({
    'spanscore.fitting.status': 'skipped',
    'spanscore.fitting.status_reason': 'shutdown',
  })
  expect(scoring.ledger().scorers['fitting']).toMatchObject({
    scored: 1,
    skipped: 1,
    pending: 0,
    reasons: { shutdown: 1 },
  })
})

test('held spans are passed on when the process is about to exit', () => {
  const { scorer } = waitingJudge()
  const { tracer, handedOn } = createHolding({ scorers: [scorer], shutdownTimeoutMs: 0 })
  runAgent(tracer, 'a')
  expect(names(handedOn)).not.toContain('invoke_agent a')
  process.emit('beforeExit', 0)
  expect(names(handedOn)).toContain('invoke_agent a')
})

/** A provider that forwards no `onEnding`, as that of @vercel/otel and the SDK before 2.3. */
const withoutEnding = (scoring: ScoringSpanProcessor) =>
  new TracerProvider({
    spanProcessors: [
      {
        onStart: (span, context) => scoring.onStart(span, context),
        onEnd: (span) => scoring.onEnd(span),
        forceFlush: () => scoring.forceFlush(),
        shutdown: () => scoring.shutdown(),
      },
    ],
  })

test('if onEnding is not forwarded, a processor behind that gets a view of the span sees the run', () => {
  const behind = new ScoringSpanProcessor({ scorers: [codeScorer('behind')] })
  const scoring = new ScoringSpanProcessor({ scorers: [codeScorer('exact')], next: behind })
  runAgent(withoutEnding(scoring).getTracer('agents'), 'a')
  expect(behind.ledger().scorers['behind']).toMatchObject({ scored: 1 })
})

test('if onEnding is not forwarded, code scores are on the view that next receives', () => {
  const { scoring, handedOn } = createHolding({ scorers: [codeScorer('exact')] })
  const provider = withoutEnding(scoring)
  const agent = runAgent(provider.getTracer('agents'), 'a')
  expect((agent as unknown as EndedSpan).attributes).not.toHaveProperty('spanscore.exact.score')
  expect(handedOn.at(-1)?.attributes).toHaveProperty('spanscore.exact.score', 1)
})

test.each([
  [127, {}],
  [16, { spanLimits: { attributeCountLimit: 20 } }],
])('a span with %i attributes that has no room for ours (%j) gets none; next gets them', (count, config) => {
  const { tracer, handedOn } = createHolding({ scorers: [codeScorer('exact')] }, config)
  const full = Object.fromEntries(Array.from({ length: count }, (_, index) => [`key.${index}`, index]))
  const agent = open(tracer, 'invoke_agent a', { 'gen_ai.operation.name': 'invoke_agent', ...full })
  agent.end()
  expect((agent as unknown as EndedSpan).attributes).not.toHaveProperty('spanscore.exact.score')
  expect((agent as unknown as EndedSpan).droppedAttributesCount).toBe(0)
  expect(handedOn[0]?.attributes).toHaveProperty('spanscore.exact.score', 1)
})

test('spans of a judge that is traced without a context manager are dropped and not scored', async () => {
  const provided: { tracer?: ReturnType<typeof open> } = {}
  const { tracer, handedOn, started, scoring } = createHolding({
    scorers: [
      judgeScorer('fitting', {
        assess: async () => {
          await Promise.resolve()
          provided.tracer = runAgent(tracer, 'the-judge')
          return { status: 'scored', value: 1 }
        },
      }),
    ],
  })
  runAgent(tracer, 'a')
  await expect.poll(() => handedOn).toHaveLength(3)
  expect(provided.tracer).toBeDefined()
  expect(names(started)).not.toContain('invoke_agent the-judge')
  expect(names(handedOn)).not.toContain('invoke_agent the-judge')
  expect(scoring.ledger().runs.seen).toBe(1)
})

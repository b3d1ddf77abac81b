import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Span, Tracer } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { afterEach, expect, test, vi } from 'vitest'

import { attachScoring } from '../../src/processor/attach/attach.ts'
import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import type { ScoringOptions } from '../../src/engine/config/scoring-options.ts'
import type { AgentRun } from '../../src/model/agent-run.ts'
import type { Evaluation } from '../../src/model/score.ts'
import {
  agentAttributes,
  chatAttributes,
  cleanup,
  codeScorer,
  createPipeline,
  expectBalanced,
  judgeScorer,
  open,
  runAgent,
  toolAttributes,
} from './harness.ts'

afterEach(() => {
  vi.useRealTimers()
})

async function createScoring(options: Partial<ScoringOptions> = {}) {
  const seen: { evaluation: Evaluation; run: AgentRun }[] = []
  const scoring = new ScoringSpanProcessor({
    scorers: [
      codeScorer('calls', {
        mayLack: ['toolCalls'],
        assess: (run) => ({ status: 'scored', value: run.toolCalls.length / 10 }),
      }),
    ],
    onScore: (evaluation, run) => void seen.push({ evaluation, run }),
    ...options,
  })
  const memory = new InMemorySpanExporter()
  const pipeline = await createPipeline({
    processors: (batch) => [scoring, batch, new SimpleSpanProcessor({ exporter: memory })],
    contextManager: false,
  })
  cleanup(() => expectBalanced(scoring.ledger()))
  return { scoring, seen, memory, ...pipeline }
}

test('an agent whose parent is in another process is a root here', async () => {
  const { tracer, scoring, seen } = await createScoring()
  const remote = trace.setSpanContext(ROOT_CONTEXT, {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: 1,
    isRemote: true,
  })
  runAgent(tracer, 'weather-agent', remote)
  expect(seen).toHaveLength(1)
  expect(seen[0]?.run).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c', complete: true })
  expect(scoring.ledger().runs).toMatchObject({ seen: 1, closed: 1 })
})

test('spans of other libraries between agent and tool do not break the run', async () => {
  const { tracer, provider, seen } = await createScoring()
  const other = provider.getTracer('@opentelemetry/instrumentation-http')
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const between = open(other, 'POST /tools', { 'http.request.method': 'POST' }, agent)
  open(tracer, 'execute_tool weather', toolAttributes('weather'), open(other, 'inner', {}, between)).end()
  between.end()
  agent.end()
  expect(seen[0]?.run.toolCalls.map(({ name }) => name)).toEqual(['weather'])
  expect(seen[0]?.run.complete).toBe(true)
})

test('two agents under one server span are two runs, of one trace', async () => {
  const { tracer, provider, scoring, seen } = await createScoring()
  const server = open(provider.getTracer('@opentelemetry/instrumentation-http'), 'POST /chat')
  runAgent(tracer, 'first', server)
  runAgent(tracer, 'second', server)
  server.end()
  expect(seen.map(({ run }) => run.agent.name)).toEqual(['first', 'second'])
  expect(scoring.ledger().runs).toEqual({ seen: 2, closed: 2, open: 0, evicted: 0, late: 0, duplicates: 0 })
})

test('an agent whose attributes come only at its end is scored, with what began below it', async () => {
  const { tracer, seen } = await createScoring()
  const agent = open(tracer, 'my agent')
  open(tracer, 'execute_tool weather', toolAttributes('weather'), agent).end()
  const chat = open(tracer, 'chat', {}, agent)
  chat.setAttributes(chatAttributes())
  chat.end()
  agent.setAttributes(agentAttributes('late-agent'))
  agent.end()
  expect(seen.map(({ run }) => [run.agent.name, run.toolCalls.length])).toEqual([['late-agent', 1]])
})

test('a nested agent is part of its run, and also scored by itself with scope every-agent', async () => {
  const { tracer, seen, scoring, memory } = await createScoring({
    scorers: [
      codeScorer('outer'),
      { scorer: codeScorer('each'), scope: 'every-agent' },
      { scorer: codeScorer('named'), agent: 'inner' },
    ],
  })
  const outer = open(tracer, 'invoke_agent outer', agentAttributes('outer'))
  const tool = open(tracer, 'execute_tool ask', toolAttributes('ask'), outer)
  const inner = runAgent(tracer, 'inner', tool)
  tool.end()
  outer.end()
  expect(seen.map(({ evaluation, run }) => `${evaluation.scorer.id} ${run.agent.name}`)).toEqual([
    'each inner',
    'named inner',
    'outer outer',
    'each outer',
  ])
  expect(seen.at(-1)?.run.children.map(({ id }) => id)).toEqual([
    `${inner.spanContext().traceId}:${inner.spanContext().spanId}`,
  ])
  const attributes = memory.getFinishedSpans().find(({ name }) => name === 'invoke_agent inner')?.attributes
  expect(attributes).toMatchObject({ 'spanscore.each.score': 1, 'spanscore.named.score': 1 })
  expect(attributes).not.toHaveProperty('spanscore.outer.score')
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1, closed: 1 },
    scorers: {
      outer: { offered: 1, scored: 1 },
      each: { offered: 2, scored: 2 },
      named: { offered: 2, scored: 1, skipped: 1, reasons: { filtered: 1 } },
    },
  })
})

test('judges wait for spans that are open below, and a code score that changes is revision 2, counted once', async () => {
  const { tracer, seen, scoring, receiver, flush } = await createScoring({
    scorers: [
      codeScorer('calls', {
        mayLack: ['toolCalls'],
        assess: (run) => ({ status: 'scored', value: run.toolCalls.length / 10 }),
      }),
      judgeScorer('fitting'),
    ],
  })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const tool = open(tracer, 'execute_tool weather', { 'gen_ai.operation.name': 'execute_tool' }, agent)
  agent.end()
  expect(seen.map(({ evaluation }) => [evaluation.scorer.id, evaluation.revision, evaluation.complete])).toEqual([
    ['calls', 1, false],
  ])
  expect(scoring.ledger()).toMatchObject({ runs: { open: 1 }, scorers: { fitting: { pending: 1 } } })
  tool.setAttributes(toolAttributes('weather'))
  tool.end()
  await flush()
  expect(seen.map(({ evaluation, run }) => [evaluation.scorer.id, evaluation.revision, run.toolCalls.length])).toEqual([
    ['calls', 1, 0],
    ['calls', 2, 1],
    ['fitting', 2, 1],
  ])
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1, closed: 1, late: 0 },
    scorers: { calls: { offered: 1, scored: 1 }, fitting: { offered: 1, scored: 1 } },
  })
  expect(
    receiver.spans.filter(({ name }) => name === 'evaluate calls').map(({ attributes }) => attributes),
  ).toMatchObject([{ 'spanscore.revision': 2, 'spanscore.calls.score': 0.1 }])
  const counted = receiver.metrics.filter(
    ({ name, attributes }) => name === 'spanscore.evaluations' && attributes['gen_ai.evaluation.name'] === 'calls',
  )
  expect(counted.at(-1)?.value).toBe(1)
})

test('a run that became large while spans were open is scored again after the last of them has ended', async () => {
  const { tracer, seen, scoring, flush } = await createScoring({
    scorers: [
      codeScorer('calls', {
        mayLack: ['toolCalls'],
        assess: (run) => ({ status: 'scored', value: run.toolCalls.length / 1000 }),
      }),
    ],
  })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const last = open(tracer, 'execute_tool last', toolAttributes('last'), agent)
  agent.end()
  expect(seen.map(({ evaluation }) => [evaluation.revision, evaluation.complete])).toEqual([[1, false]])
  for (let index = 0; index < 600; index += 1) open(tracer, 'execute_tool t', toolAttributes(`t${index}`), agent).end()
  last.end()
  // Reading it takes longer than the end of a span may take.
  expect(seen).toHaveLength(1)
  await flush()
  expect(seen.map(({ evaluation, run }) => [evaluation.revision, evaluation.complete, run.toolCalls.length])).toEqual([
    [1, false, 0],
    [2, true, 601],
  ])
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1, closed: 1 },
    scorers: { calls: { offered: 1, scored: 1, pending: 0 } },
  })
})

test('a scorer that at first had nothing to score does not change the span later', async () => {
  const { tracer, provider, receiver } = await createPipeline({ processors: (batch) => [batch] })
  const scoring = attachScoring({
    scorers: [
      codeScorer('calls', {
        assess: (run) =>
          run.toolCalls.length === 0
            ? { status: 'skipped', reason: 'not-applicable', message: 'No call.' }
            : { status: 'scored', value: 1 },
      }),
      judgeScorer('judged'),
    ],
  })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const tool = open(tracer, 'execute_tool t', toolAttributes('t'), agent)
  agent.end()
  tool.end()
  await scoring.forceFlush()
  await provider.forceFlush()
  const { attributes } = receiver.spans.find(({ name }) => name === 'invoke_agent a') ?? { attributes: {} }
  expect(attributes).toMatchObject({
    'spanscore.calls.score': 1,
    'spanscore.revision': 2,
    'spanscore.judged.score': 0.75,
  })
  expect(attributes).not.toHaveProperty('spanscore.calls.status')
  expect(attributes).not.toHaveProperty('spanscore.calls.status_reason')
  await scoring.detach()
})

test('the processor waits no longer than settleMs for an open span; later spans are late, and create no run', async () => {
  const { tracer, seen, scoring } = await createScoring({ scorers: [judgeScorer('fitting')], settleMs: 20 })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const chat = open(tracer, 'chat gpt-test', chatAttributes(), agent)
  agent.end()
  await expect.poll(() => seen).toHaveLength(1)
  expect(seen[0]?.evaluation.complete).toBe(false)
  chat.end()
  runAgent(tracer, 'started-too-late', agent)
  expect(scoring.ledger().runs).toEqual({ seen: 1, closed: 1, open: 0, evicted: 0, late: 4, duplicates: 0 })
  expect(seen).toHaveLength(1)
})

test('with rescore a judge is asked again when the spans that were not waited for have ended', async () => {
  const { tracer, seen, scoring, flush, receiver } = await createScoring({
    scorers: [judgeScorer('fitting')],
    settleMs: 20,
    rescore: true,
  })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const tool = open(tracer, 'execute_tool weather', toolAttributes('weather'), agent)
  agent.end()
  await expect.poll(() => seen).toHaveLength(1)
  expect(scoring.ledger().runs).toMatchObject({ open: 1, closed: 0 })
  tool.end()
  await flush()
  expect(seen.map(({ evaluation, run }) => [evaluation.revision, evaluation.complete, run.toolCalls.length])).toEqual([
    [1, false, 0],
    [2, true, 1],
  ])
  expect(receiver.spans.filter(({ name }) => name === 'evaluate fitting')).toHaveLength(2)
  expect(scoring.ledger()).toMatchObject({
    runs: { seen: 1, closed: 1, late: 0 },
    scorers: { fitting: { offered: 1, scored: 1, pending: 0 } },
  })
})

test('consecutive model calls without an agent are one run, which ends with the span around them', async () => {
  const { tracer, provider, seen, scoring, receiver, flush } = await createScoring()
  const server = open(provider.getTracer('@opentelemetry/instrumentation-http'), 'POST /chat')
  const messages = [{ role: 'user', parts: [{ type: 'text', content: 'Weather in Oslo?' }] }]
  const call = { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'weather', arguments: {} }] }
  const result = { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'sunny' }] }
  const first = open(
    tracer,
    'chat gpt-test',
    {
      ...chatAttributes(),
      'gen_ai.input.messages': JSON.stringify(messages),
      'gen_ai.output.messages': JSON.stringify([call]),
    },
    server,
  )
  first.end()
  // Start times are in whole milliseconds.
  await new Promise((resolve) => setTimeout(resolve, 2))
  const second = open(
    tracer,
    'chat gpt-test',
    { ...chatAttributes(), 'gen_ai.input.messages': JSON.stringify([...messages, call, result]) },
    server,
  )
  second.end()
  expect(seen).toEqual([])
  expect(scoring.ledger().runs.closed).toBe(0)
  server.end()
  await flush()
  expect(seen.map(({ run }) => [run.spanId, run.toolCalls.length])).toEqual([[first.spanContext().spanId, 1]])
  const late = receiver.spans.find(({ name }) => name === 'evaluate calls')
  expect(late?.parentSpanId).toBe(second.spanContext().spanId)
  expect(receiver.logs[0]?.spanId).toBe(second.spanContext().spanId)
  expect(receiver.spans.find(({ name }) => name === 'chat gpt-test')?.attributes).not.toHaveProperty(
    'spanscore.calls.score',
  )
})

test('a model call without an enclosing span is a run after settleMs, or at the next flush', async () => {
  const { tracer, seen, scoring, flush } = await createScoring({ settleMs: 20 })
  open(tracer, 'chat gpt-test', chatAttributes()).end()
  await expect.poll(() => seen).toHaveLength(1)
  open(tracer, 'chat gpt-test', chatAttributes()).end()
  await flush()
  expect(seen).toHaveLength(2)
  expect(scoring.ledger().runs).toMatchObject({ seen: 2, closed: 2, open: 0 })
})

test('a model call that waits for further ones is a run when the process comes to its end', async () => {
  const { tracer, seen, scoring } = await createScoring({})
  open(tracer, 'chat gpt-test', chatAttributes()).end()
  process.emit('beforeExit', 0)
  await expect.poll(() => seen).toHaveLength(1)
  expect(scoring.ledger().runs).toMatchObject({ seen: 1, closed: 1, open: 0 })
})

test('recorded but unsampled spans are scored by code, in events and metrics only', async () => {
  const { scoring, seen, receiver, flush, provider } = await createScoring({
    scorers: [codeScorer('exact'), judgeScorer('fitting')],
  })
  Reflect.set(Reflect.get(provider, '_tracerOptions') as object, 'sampler', {
    shouldSample: () => ({ decision: 1 }),
    toString: () => 'record only',
  })
  const agent = runAgent(provider.getTracer('record-only'))
  await flush()
  expect(agent.spanContext().traceFlags).toBe(0)
  expect(Object.fromEntries(seen.map(({ evaluation }) => [evaluation.scorer.id, evaluation.score.status]))).toEqual({
    exact: 'scored',
    fitting: 'skipped',
  })
  expect(receiver.spans).toEqual([])
  expect(receiver.logs).toHaveLength(1)
  expect(Reflect.get(agent, 'attributes')).not.toHaveProperty('spanscore.exact.score')
  expect(scoring.ledger().scorers['fitting']?.reasons).toEqual({ unsampled: 1 })
})

test(
  '20,000 runs that are left open stay within the limits, and all are accounted for',
  { timeout: 60_000 },
  async () => {
    const { tracer, scoring, flush } = await createScoring({ memoryBytes: 2 * 1024 * 1024 })
    const spans = Array.from({ length: 20_000 }, (_, index) =>
      open(tracer, `invoke_agent ${index}`, agentAttributes('a')),
    )
    const { open: left, evicted } = scoring.ledger().runs
    expect(left).toBeGreaterThan(500)
    expect(left).toBeLessThan(1024)
    expect(scoring.ledger()).toMatchObject({
      runs: { seen: 20_000, closed: 0, evicted: 20_000 - left },
      scorers: { calls: { offered: evicted, skipped: evicted, reasons: { incomplete: evicted } } },
    })
    for (const span of spans) span.end()
    // On a busy machine the scorer may have been deferred.
    await flush()
    expect(scoring.ledger()).toMatchObject({
      runs: { seen: 20_000, closed: left, open: 0, evicted, late: evicted },
      scorers: { calls: { offered: 20_000, scored: left } },
    })
  },
)

test('an agent whose span never ends is given up after maxIdleMs without a span of its trace, and its library is named', async () => {
  const { tracer, scoring, diagnostics } = await createScoring({ maxIdleMs: 20 })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  expect(scoring.ledger().runs).toMatchObject({ open: 1, evicted: 0 })
  await expect.poll(() => scoring.ledger().runs).toMatchObject({ open: 0, evicted: 1 })
  expect(diagnostics.join()).toContain("An agent's span of my-agents 1.0.0 has not ended")
  agent.end()
  expect(scoring.ledger()).toMatchObject({ runs: { seen: 1, late: 1 }, scorers: { calls: { skipped: 1 } } })
})

test('of open runs that take too much memory, the one is given up in which nothing has happened for longest', async () => {
  const { tracer, scoring, seen } = await createScoring({ memoryBytes: 8000 })
  const [first, second] = ['first', 'second'].map((name) => open(tracer, `invoke_agent ${name}`, agentAttributes(name)))
  open(tracer, 'chat gpt-test', chatAttributes('Hello.'), first).end()
  const third = open(tracer, 'invoke_agent third', agentAttributes('third'))
  for (const agent of [first, second, third]) agent?.end()
  expect(
    seen.filter(({ evaluation }) => evaluation.score.status === 'scored').map(({ run }) => run.agent.name),
  ).toEqual(['first', 'third'])
  expect(scoring.ledger().runs).toMatchObject({ closed: 2, evicted: 1 })
})

test('content is bounded by bytes: the oldest open run is given up', async () => {
  const { tracer, scoring } = await createScoring({ memoryBytes: 100_000 })
  const agents = [1, 2, 3].map((index) => open(tracer, `invoke_agent ${index}`, agentAttributes('a')))
  for (const agent of agents) open(tracer, 'chat gpt-test', chatAttributes('x'.repeat(40_000)), agent).end()
  expect(scoring.ledger().runs).toMatchObject({ open: 2, evicted: 1 })
  for (const agent of agents) agent.end()
  expect(scoring.ledger().runs).toMatchObject({ seen: 3, closed: 2, evicted: 1, late: 1, duplicates: 0 })
})

/** What an open run may hold: 40 KB in one of these ways. */
const held: Readonly<Record<string, (tracer: Tracer, agent: Span, scoring: ScoringSpanProcessor) => void>> = {
  'texts of errors': (tracer, agent) => {
    const tool = open(tracer, 'execute_tool t', toolAttributes('t'), agent)
    tool.setStatus({ code: SpanStatusCode.ERROR, message: 'x'.repeat(40_000) })
    tool.end()
  },
  'texts of events': (tracer, agent) => {
    const tool = open(tracer, 'execute_tool t', toolAttributes('t'), agent)
    tool.addEvent('exception', { 'exception.message': 'x'.repeat(40_000) })
    tool.end()
  },
  'names of spans': (tracer, agent) => open(tracer, 'x'.repeat(40_000), toolAttributes('t'), agent).end(),
  'spans without content': (tracer, agent) => {
    for (let index = 0; index < 16; index += 1) open(tracer, 'execute_tool t', toolAttributes('t'), agent).end()
  },
  'open spans': (tracer, agent) => {
    for (let index = 0; index < 15; index += 1) open(tracer, 'execute_tool t', toolAttributes('t'), agent)
    open(tracer, 'execute_tool t', toolAttributes('t'), agent).end()
  },
  'log records': (_tracer, agent, scoring) =>
    scoring.logRecordProcessor.onEmit({
      spanContext: agent.spanContext(),
      eventName: 'gen_ai.user.message',
      hrTime: [0, 0],
      attributes: {},
      body: { content: 'x'.repeat(40_000) },
      instrumentationScope: { name: 'app' },
    }),
}

test.each(Object.keys(held))('%s count towards memoryBytes: the oldest open run is given up', async (what) => {
  const { tracer, scoring } = await createScoring({ memoryBytes: 100_000 })
  const agents = [1, 2, 3].map((index) => open(tracer, `invoke_agent ${index}`, agentAttributes('a')))
  for (const agent of agents) held[what]!(tracer, agent, scoring)
  expect(scoring.ledger().runs).toMatchObject({ seen: 3, open: 2, evicted: 1 })
})

test('a run with too many spans keeps the first ones, and is incomplete', async () => {
  const { tracer, scoring, seen } = await createScoring({ maxSpansPerRun: 3 })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  for (let index = 0; index < 5; index += 1) open(tracer, 'execute_tool t', toolAttributes(`t${index}`), agent).end()
  agent.end()
  expect(seen[0]?.run.toolCalls).toHaveLength(2)
  expect(seen[0]?.evaluation.complete).toBe(false)
  expect(scoring.ledger().runs.late).toBe(3)
})

test.each(['one after the other', 'at once'])('agents %s in one long workflow have a bound each', async (how) => {
  const { tracer, seen } = await createScoring({ maxSpansPerRun: 3 })
  const workflow = open(tracer, 'invoke_workflow batch', { 'gen_ai.operation.name': 'invoke_workflow' })
  const started: Span[] = []
  for (let index = 0; index < 50; index += 1) {
    const agent = open(tracer, `invoke_agent ${index}`, agentAttributes('a'), workflow)
    open(tracer, 'execute_tool t', toolAttributes('t'), agent).end()
    if (how === 'at once') started.push(agent)
    else agent.end()
  }
  for (const agent of started) agent.end()
  expect(seen.map(({ evaluation, run }) => [evaluation.complete, run.toolCalls.length])).toEqual(
    Array.from({ length: 50 }, () => [true, 1]),
  )
  workflow.end()
})

test.each([
  ['content', { 'gen_ai.tool.call.result': 'x'.repeat(300_000) }, 1],
  ['work', {}, 600],
])('a run with much %s is reconstructed after its span has ended, filters included', async (_, attributes, calls) => {
  const { tracer, scoring, seen, receiver, flush } = await createScoring({
    scorers: [codeScorer('mine'), { scorer: codeScorer('not_mine'), agent: 'another' }],
  })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  for (let call = 0; call < calls; call += 1) {
    open(tracer, 'execute_tool t', { ...toolAttributes('t'), ...attributes }, agent).end()
  }
  agent.end()
  expect(seen).toHaveLength(0)
  await flush()
  expect(seen.map(({ evaluation }) => evaluation.scorer.id)).toEqual(['mine'])
  expect(scoring.ledger().scorers).toMatchObject({ mine: { scored: 1 }, not_mine: { reasons: { filtered: 1 } } })
  const closed = receiver.metrics.find(({ name }) => name === 'spanscore.runs')
  expect(closed).toMatchObject({ value: 1, attributes: { 'gen_ai.agent.name': 'a' } })
})

test('runs of nested agents that no scorer reads are not reconstructed', async () => {
  const { tracer, scoring, seen } = await createScoring()
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const tool = open(tracer, 'execute_tool ask_b', toolAttributes('ask_b'), agent)
  runAgent(tracer, 'b', trace.setSpan(ROOT_CONTEXT, tool))
  expect(seen).toHaveLength(0)
  tool.end()
  agent.end()
  expect(seen.map(({ run }) => [run.agent.name, run.children.map((child) => child.agent.name)])).toEqual([['a', ['b']]])
  expect(scoring.ledger().runs).toMatchObject({ seen: 1, closed: 1 })
})

test('a run in progress when scoring was attached is one run, and known to be incomplete', async () => {
  const { tracer, provider } = await createPipeline({ processors: (batch) => [batch] })
  const startTime = Date.now() - 1000
  const agent = tracer.startSpan('invoke_agent a', { attributes: agentAttributes('a'), startTime }, ROOT_CONTEXT)
  open(tracer, 'execute_tool lost', toolAttributes('lost'), agent).end()
  const seen: AgentRun[] = []
  const scoring = attachScoring({
    tracerProvider: provider,
    scorers: [codeScorer('exact')],
    onScore: (_, run) => void seen.push(run),
  })
  open(tracer, 'execute_tool kept', toolAttributes('kept'), agent).end()
  open(tracer, 'chat gpt-test', chatAttributes(), agent).end()
  agent.end()
  await scoring.forceFlush()
  expect(seen.map((run) => [run.agent.name, run.complete, run.toolCalls.map(({ name }) => name)])).toEqual([
    ['a', false, ['kept']],
  ])
  expect(scoring.ledger().runs).toMatchObject({ seen: 1, closed: 1 })
})

test('with rescore a judge that is still at work when its run is settled is asked again, and a flush waits for both', async () => {
  const answers: (() => void)[] = []
  const { tracer, seen, scoring, flush } = await createScoring({
    scorers: [
      judgeScorer('slow', {
        mayLack: ['toolCalls'],
        assess: async (run) => {
          await new Promise<void>((resolve) => answers.push(resolve))
          return { status: 'scored', value: run.toolCalls.length / 10 }
        },
      }),
    ],
    settleMs: 20,
    rescore: true,
  })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const tool = open(tracer, 'execute_tool weather', toolAttributes('weather'), agent)
  agent.end()
  await expect.poll(() => answers).toHaveLength(1)
  tool.end()
  const flushed = flush()
  answers[0]?.()
  await expect.poll(() => answers).toHaveLength(2)
  answers[1]?.()
  await flushed
  expect(seen.map(({ evaluation }) => [evaluation.revision, evaluation.complete])).toEqual([
    [1, false],
    [2, true],
  ])
  expect(scoring.ledger().scorers['slow']).toMatchObject({ offered: 1, scored: 1, pending: 0 })
})

test('a score that was given too early remains if its scorer cannot be asked again', async () => {
  let isThere = true
  const { tracer, seen, scoring, flush } = await createScoring({
    scorers: [
      judgeScorer('fitting', {
        judge: {
          model: 'test/judge',
          priced: true,
          estimate: () => ({ calls: 1, tokens: 1 }),
          unavailable: () => (isThere ? undefined : 'The key is gone.'),
        },
      }),
    ],
    settleMs: 20,
    rescore: true,
  })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const tool = open(tracer, 'execute_tool weather', toolAttributes('weather'), agent)
  agent.end()
  await expect.poll(() => seen).toHaveLength(1)
  isThere = false
  tool.end()
  await flush()
  expect(seen.map(({ evaluation }) => evaluation.score.status)).toEqual(['scored'])
  expect(scoring.ledger().scorers['fitting']).toMatchObject({ offered: 1, scored: 1, pending: 0 })
})

test('a scorer that loads something when it is first asked is asked again when its run has changed', async () => {
  let isLoaded = false
  const { tracer, seen, scoring, flush } = await createScoring({
    scorers: [
      codeScorer('loading', {
        mayLack: ['toolCalls'],
        assess: (run) => {
          const verdict = { status: 'scored', value: run.toolCalls.length / 10 } as const
          if (isLoaded) return verdict
          isLoaded = true
          return Promise.resolve(verdict)
        },
      }),
    ],
  })
  const agent = open(tracer, 'invoke_agent a', agentAttributes('a'))
  const tool = open(tracer, 'execute_tool weather', toolAttributes('weather'), agent)
  agent.end()
  await expect.poll(() => seen).toHaveLength(1)
  tool.end()
  await flush()
  expect(seen.map(({ evaluation }) => [evaluation.revision, evaluation.complete])).toEqual([
    [1, false],
    [2, true],
  ])
  expect(scoring.ledger().scorers['loading']).toMatchObject({ offered: 1, scored: 1, pending: 0 })
})

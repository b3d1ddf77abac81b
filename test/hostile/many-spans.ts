import { setImmediate as nextTurn } from 'node:timers/promises'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { expect } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'
import { createLoopScorer } from '../../src/scorers/code/loop.ts'
import { createToolArgumentsScorer } from '../../src/scorers/code/tool-arguments.ts'
import { createToolErrorsScorer } from '../../src/scorers/code/tool-errors.ts'
import { createTrajectoryScorer } from '../../src/scorers/code/trajectory.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { createRubricScorer } from '../../src/scorers/judge/rubric.ts'
import type { Scorer } from '../../src/scoring/scorer.ts'
import { toSourceSpan } from '../../src/spans/from-sdk-span.ts'
import { createFakeJudge } from '../../src/testing/fake-judge.ts'
import type { LongTurns } from '../fuzz/long-turns.ts'
import { callInTool } from './call-in-tool.ts'
import { denseRun, oddRun } from './dense-run.ts'
import type { DenseShape } from './dense-run.ts'

/** Plays what an application does until all of it is scored, and measures each hook and turn that may be long. */
export type Play = (turns: LongTurns) => Promise<void>

type Options = Partial<ConstructorParameters<typeof ScoringSpanProcessor>[0]>

interface Attached {
  readonly scoring: ScoringSpanProcessor
  readonly tracer: Tracer
}

function attached(options: Options, scope = 'agents'): Attached {
  const scoring = new ScoringSpanProcessor({ scorers: [createAnswerPresentScorer()], ...options })
  return { scoring, tracer: new TracerProvider({ spanProcessors: [scoring] }).getTracer(scope) }
}

function start(tracer: Tracer, operation: string, above?: Span, attributes: Attributes = {}): Span {
  const context = above === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, above)
  return tracer.startSpan(operation, { attributes: { 'gen_ai.operation.name': operation, ...attributes } }, context)
}

function measured(turns: LongTurns, what: string, hook: () => void): void {
  const end = turns.begin(what)
  hook()
  end()
}

async function turnUntil(turns: LongTurns, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
  }
}

const pendingOf = (scoring: ScoringSpanProcessor) =>
  Object.values(scoring.ledger().scorers).some(({ offered, pending }) => offered === 0 || pending > 0)

const json = (...messages: readonly object[]): string => JSON.stringify(messages)
const say = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] })

/** A workflow with many agents that have ended, each with a tool that is still open. */
export function playOpenTools(agents: number, settleMs: number): Attached & { readonly tools: readonly Span[] } {
  const { scoring, tracer } = attached({ queueSize: agents, settleMs })
  const workflow = start(tracer, 'invoke_workflow')
  const tools = Array.from({ length: agents }, () => {
    const agent = start(tracer, 'invoke_agent', workflow)
    const tool = start(tracer, 'execute_tool', agent)
    agent.end()
    return tool
  })
  return { scoring, tracer, tools }
}

/** Runs that are settled because their tools did not end in time. */
export function openTools(agents: number): Play {
  return async (turns) => {
    const { scoring } = playOpenTools(agents, 20)
    await turnUntil(turns, () => scoring.ledger().runs.closed >= agents)
    await scoring.shutdown()
  }
}

/** Tools without an agent, each of which calls models. */
export function agentlessGroups(tools: number): Play {
  return async (turns) => {
    const runs = tools * 25
    const { scoring, tracer } = attached({ queueSize: runs, settleMs: 100 })
    for (let index = 0; index < tools; index += 1) callInTool(tracer, `${index}`, 25)
    await turnUntil(turns, () => scoring.ledger().runs.closed >= runs)
    await scoring.shutdown()
  }
}

/** A job that calls a model many times, without an agent. */
export function agentlessCalls(calls: number): Play {
  return async (turns) => {
    const { scoring, tracer } = attached({ queueSize: calls, timeoutMs: 60_000 })
    const job = tracer.startSpan('nightly job', {}, ROOT_CONTEXT)
    for (let index = 0; index < calls; index += 1) {
      const attributes = {
        'gen_ai.input.messages': json(say('user', `question ${index}`)),
        'gen_ai.output.messages': json(say('assistant', `answer ${index}`)),
      }
      measured(turns, 'the end of a call', () => start(tracer, 'chat', job, attributes).end())
    }
    measured(turns, 'the end of the job', () => job.end())
    // The end of the job settles none of them.
    expect(scoring.ledger().runs).toMatchObject({ seen: calls, closed: 0, open: calls })
    await turnUntil(turns, () => scoring.ledger().runs.open === 0)
    await scoring.forceFlush()
    expect(scoring.ledger().scorers).toMatchObject({ answer_present: { offered: calls, scored: calls } })
    await scoring.shutdown()
  }
}

const called = (given: object) => ({
  role: 'assistant',
  parts: [{ type: 'tool_call', name: 'look', arguments: given }],
})

/** A long question of its own, and in every other call also the answer of a tool. */
function requestOf(index: number): string {
  const question = say('user', `${'word '.repeat(1600)}${index}`)
  const answer = { role: 'tool', parts: [{ type: 'tool_call_response', response: `page ${index}` }] }
  return index % 2 === 0 ? json(question) : json(question, called({}), answer)
}

/** A tool that calls a model many times; each of these calls may continue each of the others. No call has an id. */
export function similarCalls(calls: number): Play {
  return async (turns) => {
    const { scoring, tracer } = attached({ queueSize: calls })
    const tool = start(tracer, 'execute_tool')
    for (let index = 0; index < calls; index += 1) {
      const attributes = {
        'gen_ai.input.messages': requestOf(index),
        'gen_ai.output.messages': json(called({ index })),
      }
      start(tracer, 'chat', tool, attributes).end()
    }
    tool.end()
    const flushed = scoring.forceFlush()
    await turnUntil(turns, () => scoring.ledger().runs.open === 0)
    await flushed
    expect(scoring.ledger().runs).toMatchObject({ seen: calls, closed: calls })
    await scoring.shutdown()
  }
}

/** One message with thousands of calls, of which hundreds are expected, and one with what each of them was answered. */
export function manyCalls(response: unknown): Play {
  const names = Array.from({ length: 8000 }, (_, index) => `n${index}`)
  const calls = names.map((name, index) => ({ type: 'tool_call', id: `c${index}`, name, arguments: { index } }))
  const asked = json({ role: 'assistant', parts: calls })
  // A document with more values than this would not be read.
  const answers = calls.map(({ id }) => ({ type: 'tool_call_response', id, response }))
  const answered = json({ role: 'tool', parts: answers })
  const expected = names.slice(0, 300)
  const scorers = [createToolErrorsScorer(), createTrajectoryScorer({ expected, mode: 'unordered' })]
  return async (turns) => {
    const { scoring, tracer } = attached({ scorers, timeoutMs: 60_000 })
    measured(turns, 'the spans', () => {
      const agent = start(tracer, 'invoke_agent')
      start(tracer, 'chat', agent, { 'gen_ai.output.messages': asked }).end()
      const said = json({ role: 'assistant', parts: [] })
      start(tracer, 'chat', agent, { 'gen_ai.input.messages': answered, 'gen_ai.output.messages': said }).end()
      agent.end()
    })
    await turnUntil(turns, () => !pendingOf(scoring))
    expect(scoring.ledger().scorers).toMatchObject({ trajectory: { scored: 1 }, tool_errors: { scored: 1 } })
    await scoring.shutdown()
  }
}

const GRAPHS = 600

/** A message as LangChain writes it. */
function message(id: string, content: string, calls: readonly object[] = []): object {
  return { lc: 1, type: 'constructor', id: [id], kwargs: { content, tool_calls: calls } }
}

/**
 * Overlapping graphs of an instrumentation that writes the spans of a graph side by side. All of them are active at the same time; each
 * calls a model and a tool, and is scored once.
 *
 * @param requests in how many requests they run; 0 if each span begins a trace of its own
 */
export function graphs(requests: number): Play {
  const indexes = Array.from({ length: GRAPHS }, (_, index) => index)
  return async (turns) => {
    const exporter = new InMemorySpanExporter()
    const live: string[] = []
    const scorer = createScorer({ id: 'calls', description: 'Notes the calls.' }).generateScore(({ run }) => {
      live.push(run.toolCalls.map(({ id }) => id).join())
      return 1
    })
    const scoring = new ScoringSpanProcessor({ scorers: [scorer], queueSize: GRAPHS })
    const provider = new TracerProvider({ spanProcessors: [scoring, new SimpleSpanProcessor({ exporter })] })
    const tracer = provider.getTracer('@traceloop/instrumentation-langchain')
    const above = Array.from({ length: requests }, () =>
      provider.getTracer('http').startSpan('GET /', {}, ROOT_CONTEXT),
    )
    const begin = (name: string, attributes: Attributes, index: number): Span => {
      const request = above[index % requests]
      return tracer.startSpan(name, { attributes }, request ? trace.setSpan(ROOT_CONTEXT, request) : ROOT_CONTEXT)
    }
    const end = (span: Span): void => measured(turns, 'the end of a span', () => span.end())
    const open = indexes.map((index) => {
      const input = { messages: [message('HumanMessage', `question ${index}`)] }
      const graph = { 'gen_ai.operation.name': 'workflow', 'traceloop.span.kind': 'workflow' }
      const attributes = { ...graph, 'traceloop.entity.input': JSON.stringify(input) }
      return begin('CompiledStateGraph.workflow', attributes, index)
    })
    for (const index of indexes) {
      const asked = { 'gen_ai.input.messages': json(say('user', `question ${index}`)) }
      end(begin('ChatOpenAI.chat', { 'gen_ai.operation.name': 'chat', ...asked }, index))
      const tool = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'look',
        'traceloop.span.kind': 'tool',
      }
      end(begin('look.tool', { ...tool, 'gen_ai.tool.call.id': `call_${index}` }, index))
    }
    for (const [index, graph] of open.entries()) {
      const calls = [{ id: `call_${index}`, name: 'look', args: {} }]
      const said = [message('AIMessage', '', calls), message('AIMessage', `answer ${index}`)]
      const messages = [message('HumanMessage', `question ${index}`), ...said]
      graph.setAttribute('traceloop.entity.output', JSON.stringify({ messages }))
      end(graph)
      const endTurn = turns.begin('a turn')
      await nextTurn()
      endTurn()
    }
    for (const request of above) request.end()
    const flushed = scoring.forceFlush()
    await turnUntil(turns, () => scoring.ledger().runs.open === 0)
    await flushed
    const inFile = buildRuns(exporter.getFinishedSpans().map((span) => toSourceSpan(span)))
    const each = indexes.map((index) => `call_${index}`).toSorted()
    expect(inFile.map(({ toolCalls }) => toolCalls.map(({ id }) => id).join()).toSorted()).toEqual(each)
    expect(live.toSorted()).toEqual(each)
    await scoring.shutdown()
  }
}

/** A shutdown with scores that never end, some of them with held spans. */
export function unfinishedScores(runs: number, held: number): Play {
  const scorer = createScorer({ id: 'never', description: 'Never ends.' }).generateScore(
    () => new Promise<number>(() => {}),
  )
  return async (turns) => {
    const handedOn: unknown[] = []
    const { scoring, tracer } = attached({
      scorers: [scorer],
      queueSize: runs,
      concurrency: runs,
      timeoutMs: 600_000,
      shutdownTimeoutMs: 20,
      holdMs: held > 0 ? 600_000 : 0,
      next: {
        onStart: () => {},
        onEnd: (span: unknown) => handedOn.push(span),
        forceFlush: () => Promise.resolve(),
        shutdown: () => Promise.resolve(),
      },
    })
    for (let index = 0; index < runs; index += 1) start(tracer, 'invoke_agent').end()
    expect(handedOn).toHaveLength(runs - held)
    const state = { isOver: false }
    measured(turns, 'the shutdown', () => void scoring.shutdown().then(() => (state.isOver = true)))
    await turnUntil(turns, () => state.isOver)
    expect(new Set(handedOn).size).toBe(runs)
    expect(scoring.ledger().scorers['never']).toMatchObject({ offered: runs, pending: 0, reasons: { shutdown: runs } })
  }
}

const denseScorers = [
  createLoopScorer(),
  createToolErrorsScorer(),
  createToolArgumentsScorer(),
  createRubricScorer({ model: createFakeJudge('lenient'), criteria: [{ id: 'good', question: 'Is it good?' }] }),
]

/** A run with much dense JSON. */
export function dense(shape: DenseShape, redacts: boolean): Play {
  return read(() => denseRun(shape), redacts)
}

/** A run of one call with this value. */
export function odd(value: unknown, place: 'arguments' | 'message'): Play {
  return read(() => oddRun(value, place), false)
}

function read(make: () => ReturnType<typeof denseRun>, redacts: boolean): Play {
  return async (turns) => {
    const play = make()
    const redact = redacts ? { redact: <T>(run: T) => run } : {}
    const { scoring, tracer } = attached({ scorers: denseScorers, timeoutMs: 60_000, settleMs: 50, ...redact })
    play(tracer, (what, hook) => measured(turns, what, hook))
    await turnUntil(turns, () => !pendingOf(scoring))
    expect(Object.values(scoring.ledger().scorers).every(({ failed }) => failed === 0)).toBe(true)
    await scoring.shutdown()
  }
}

/** A scorer that is asked once about a text. */
export function scored(scorer: Scorer, text: string): Play {
  return async (turns) => {
    const state = { isDone: false }
    const asked = scorer
      .run({ input: text.slice(0, 20_000), output: text })
      .catch(() => undefined)
      .then(() => (state.isDone = true))
    await turnUntil(turns, () => state.isDone)
    await asked
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises'

import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Span } from '@opentelemetry/api'
import { TracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { expect, test } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { buildRuns } from '../../src/runs/build-runs.ts'
import { createScorer } from '../../src/scorers/create/create-scorer.ts'
import { toSourceSpan } from '../../src/spans/from-sdk-span.ts'
import { LongTurns } from '../fuzz/long-turns.ts'

/** Milliseconds of processor time that one turn may take. */
const LONGEST_MS = 50
const GRAPHS = 600

const kwargs = (content: string, calls: readonly object[] = []) => ({ content, tool_calls: calls })
const human = (content: string) => ({ lc: 1, type: 'constructor', id: ['HumanMessage'], kwargs: kwargs(content) })
const ai = (content: string, calls: readonly object[] = []) => ({
  lc: 1,
  type: 'constructor',
  id: ['AIMessage'],
  kwargs: kwargs(content, calls),
})

interface Found {
  readonly long: readonly string[]
  /** The tool calls of each scored run, and of each run that the exported spans form. */
  readonly live: readonly string[]
  readonly files: readonly string[]
}

/**
 * Overlapping graphs of an instrumentation that writes the spans of a graph side by side. All of them are active at the same time; each
 * calls a model and a tool.
 *
 * @param requests in how many requests they run; 0 if each span begins a trace of its own
 */
async function play(requests: number): Promise<Found> {
  const turns = new LongTurns(LONGEST_MS)
  const exporter = new InMemorySpanExporter()
  const live: string[] = []
  const scorer = createScorer({ id: 'calls', description: 'Notes the calls.' }).generateScore(({ run }) => {
    live.push(run.toolCalls.map(({ id }) => id).join())
    return 1
  })
  const scoring = new ScoringSpanProcessor({ scorers: [scorer], queueSize: GRAPHS })
  const provider = new TracerProvider({ spanProcessors: [scoring, new SimpleSpanProcessor({ exporter })] })
  const tracer = provider.getTracer('@traceloop/instrumentation-langchain')
  const above = Array.from({ length: requests }, () => provider.getTracer('http').startSpan('GET /', {}, ROOT_CONTEXT))
  const start = (name: string, attributes: Attributes, index: number): Span => {
    const request = above[index % requests]
    return tracer.startSpan(name, { attributes }, request ? trace.setSpan(ROOT_CONTEXT, request) : ROOT_CONTEXT)
  }
  const endIn = (span: Span): void => {
    const end = turns.begin('the end of a span')
    span.end()
    end()
  }
  const graphs = Array.from({ length: GRAPHS }, (_, index) =>
    start(
      'CompiledStateGraph.workflow',
      {
        'gen_ai.operation.name': 'workflow',
        'traceloop.span.kind': 'workflow',
        'traceloop.entity.input': JSON.stringify({ messages: [human(`question ${index}`)] }),
      },
      index,
    ),
  )
  for (const [index] of graphs.entries()) {
    const asked = JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: `question ${index}` }] }])
    endIn(start('ChatOpenAI.chat', { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': asked }, index))
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'look', 'traceloop.span.kind': 'tool' }
    endIn(start('look.tool', { ...tool, 'gen_ai.tool.call.id': `call_${index}` }, index))
  }
  for (const [index, graph] of graphs.entries()) {
    const calls = [{ id: `call_${index}`, name: 'look', args: {} }]
    const messages = [human(`question ${index}`), ai('', calls), ai(`answer ${index}`)]
    graph.setAttribute('traceloop.entity.output', JSON.stringify({ messages }))
    endIn(graph)
    const end = turns.begin('a turn')
    await nextTurn()
    end()
  }
  for (const request of above) request.end()
  const flushed = scoring.forceFlush()
  while (scoring.ledger().runs.open > 0) {
    const end = turns.begin('a turn')
    await nextTurn()
    end()
  }
  await flushed
  const runs = buildRuns(exporter.getFinishedSpans().map((span) => toSourceSpan(span)))
  const files = runs.map(({ toolCalls }) => toolCalls.map(({ id }) => id).join())
  await scoring.shutdown()
  return { long: turns.report().own.map(({ text }) => text), live: live.toSorted(), files: files.toSorted() }
}

const each = Array.from({ length: GRAPHS }, (_, index) => `call_${index}`).toSorted()

test.each([0, 10, GRAPHS])(
  'hundreds of overlapping graphs in %d requests are each scored once, in short turns',
  async (requests) => {
    // The compilation at the first run of a process is not measured here, and on a busy machine a single turn may take long.
    await play(requests)
    const { long, live, files } = await play(requests)
    expect(files).toEqual(each)
    expect(live).toEqual(each)
    expect(long.length === 0 ? long : (await play(requests)).long).toEqual([])
  },
)

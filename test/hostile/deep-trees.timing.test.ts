import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'
import { TracerProvider } from '@opentelemetry/sdk-trace'
import { expect, it } from 'vitest'

import { ScoringSpanProcessor } from '../../src/processor/scoring-span-processor.ts'
import { createAnswerPresentScorer } from '../../src/scorers/code/answer-present.ts'

const WORKFLOW = { 'gen_ai.operation.name': 'invoke_workflow' }
const AGENT = { 'gen_ai.operation.name': 'invoke_agent' }
const CHAT = { 'gen_ai.operation.name': 'chat' }
const TOOL = { 'gen_ai.operation.name': 'execute_tool' }

/** LangChain by OpenInference, which writes the kind of a span at its end. */
const LANGCHAIN = '@arizeai/openinference-instrumentation-langchain'
const NODE = { 'openinference.span.kind': 'CHAIN', metadata: '{"langgraph_node":"step"}' }
const LANGCHAIN_AGENT = { 'openinference.span.kind': 'CHAIN', metadata: '{"lc_agent_name":"step"}' }

/** A chain of open spans, each below the one before, and what happens beside it. */
interface Shape {
  readonly chain: readonly Attributes[]
  /** A span that begins and ends at each depth. */
  readonly leaf?: Attributes
  /** The name of the spans in the chain. */
  readonly name?: string
  /** The library that writes the chain, and writes what its spans are when they end. `application` is one that is not known by its name. */
  readonly library?: string
  readonly ends: 'innermost first' | 'outermost first'
  /** The runs that are begun, of a number of spans in the chain. */
  readonly runs: (length: number) => number
}

/** Milliseconds of processor time. */
interface Times {
  readonly total: number
  readonly longestHook: number
}

/** What a chain takes. */
async function timesOf(length: number, { chain, leaf, name = 'step', library, ends, runs }: Shape): Promise<Times> {
  const processor = new ScoringSpanProcessor({ scorers: [createAnswerPresentScorer()] })
  const provider = new TracerProvider({ spanProcessors: [processor] })
  const tracer = provider.getTracer(library ?? 'application')
  const spans: { readonly span: Span; readonly kind: Attributes }[] = []
  let context: Context = ROOT_CONTEXT
  const before = process.cpuUsage()
  for (let depth = 0; depth < length; depth += 1) {
    const kind = chain[depth % chain.length] ?? {}
    const span = tracer.startSpan(name, library === undefined ? { attributes: kind } : {}, context)
    context = trace.setSpan(ROOT_CONTEXT, span)
    spans.push({ span, kind })
    if (leaf !== undefined) provider.getTracer('application').startSpan('leaf', { attributes: leaf }, context).end()
  }
  let longestHook = 0
  for (const { span, kind } of ends === 'innermost first' ? spans.toReversed() : spans) {
    const beforeEnd = cpuMs()
    span.setAttributes(kind).end()
    longestHook = Math.max(longestHook, cpuMs() - beforeEnd)
  }
  await processor.forceFlush()
  const { user, system } = process.cpuUsage(before)
  expect(processor.ledger().runs.seen).toBe(runs(length))
  return { total: (user + system) / 1000, longestHook }
}

/** The least of several attempts: a garbage collection may fall into one of them. */
async function leastOf(length: number, shape: Shape): Promise<Times> {
  const times: Times[] = []
  for (let attempt = 0; attempt < 3; attempt += 1) times.push(await timesOf(length, shape))
  return {
    total: Math.min(...times.map(({ total }) => total)),
    longestHook: Math.min(...times.map((each) => each.longestHook)),
  }
}

/** Processor time of this thread so far, in milliseconds. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const none = (): number => 0
const one = (): number => 1
const each = (length: number): number => length

it.each<[string, Shape]>([
  ['workflows', { chain: [WORKFLOW], ends: 'innermost first', runs: none }],
  ['workflows, and the outermost ends first', { chain: [WORKFLOW], ends: 'outermost first', runs: none }],
  ['workflows and tools', { chain: [WORKFLOW, TOOL], ends: 'innermost first', runs: one }],
  ['workflows that call models', { chain: [WORKFLOW], leaf: CHAT, ends: 'innermost first', runs: one }],
  ['workflows that call agents', { chain: [WORKFLOW], leaf: AGENT, ends: 'innermost first', runs: each }],
  [
    'workflows that call agents, and say at their end what they are',
    {
      chain: [{ 'mastra.span.type': 'workflow_run' }],
      library: '@mastra/otel',
      leaf: AGENT,
      ends: 'innermost first',
      runs: each,
    },
  ],
  [
    'agents that say at their end what they are',
    {
      chain: [LANGCHAIN_AGENT],
      library: LANGCHAIN,
      ends: 'innermost first',
      runs: one,
    },
  ],
  [
    'agents below one span whose kind is known at its end',
    {
      chain: [NODE],
      library: LANGCHAIN,
      leaf: AGENT,
      ends: 'innermost first',
      runs: each,
    },
  ],
  [
    'graphs of a library that writes spans side by side',
    {
      chain: [{ 'gen_ai.operation.name': 'workflow' }],
      name: 'CompiledStateGraph.workflow',
      library: '@traceloop/instrumentation-langchain',
      ends: 'innermost first',
      runs: one,
    },
  ],
  [
    'agents that are recognised at their end, after their calls of models',
    { chain: [AGENT], library: 'application', leaf: CHAT, ends: 'innermost first', runs: each },
  ],
])('Thousands of open spans, each below the one before, take time in proportion: %s', async (_, shape) => {
  await leastOf(500, shape)
  const [some, many] = [await leastOf(500, shape), await leastOf(4000, shape)]
  // There are eight times as many spans; to look at all ancestors of each would take 64 times as long, and more than 0.3 seconds.
  expect(many.total).toBeLessThan(25 * some.total + 40)
  expect(many.longestHook).toBeLessThan(50)
})

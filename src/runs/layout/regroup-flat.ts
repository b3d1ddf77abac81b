import { toolCallsIn } from '../../spans/content/messages.ts'
import type { SpanRole } from '../../spans/dialect.ts'
import { isFlat } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { lastUserText } from '../view/message-text.ts'
import { encloses, timed } from './time-ranges.ts'
import type { TimedSpan } from './time-ranges.ts'

/** After this many comparisons, a trace of flat spans stays as it is. */
const MAX_COMPARISONS = 2_000_000

/**
 * Gives flat spans their correct parents. Some libraries write all spans of a run side by side, and under load even below the span of
 * another run (`Quirks.isFlat`). Their content shows where they belong: a tool execution to the graph that lists its call, a model call to
 * the graph that was active and was asked the same question, a graph to the tool or graph inside which it ran. A trace without a graph does
 * not change.
 */
export function regroupFlat(nodes: readonly TraceSpan[]): void {
  const flat = nodes.filter(isFlat)
  if (!flat.some((node) => node.role === 'agent')) return
  const spans = flat.map(timed)
  const ofRole = (role: SpanRole): TimedSpan[] => spans.filter(({ node }) => node.role === role)
  const all = ofRole('agent').toSorted(byLength)
  if (all.length * flat.length > MAX_COMPARISONS) return
  const graphs = new Graphs(all)
  const tools = ofRole('tool')
  for (const tool of tools) tool.node.parent = graphs.ofTool(tool) ?? tool.node.parent
  const wrappers = nodes.filter((node) => node.role === 'entry' && !isFlat(node))
  for (const graph of all) graph.node.parent = parentOfGraph(graph, graphs, tools, wrappers)
  const steps = ofRole('step').toSorted(byLength)
  for (const step of steps) step.node.parent = graphs.ofQuestion(step)
  // If a graph has several agents, the step around a model call names the agent.
  const naming = Map.groupBy(
    steps.filter(({ node }) => node.agent?.name !== undefined),
    ({ node }) => node.parent,
  )
  for (const model of ofRole('model')) {
    const graph = graphs.ofQuestion(model)
    const step = naming.get(graph)?.find((other) => encloses(other, model))
    model.node.parent = step?.node ?? graph ?? model.node.parent
  }
}

function byLength(left: TimedSpan, right: TimedSpan): number {
  return left.toMs - left.fromMs - (right.toMs - right.fromMs)
}

/** The graphs of a trace, shortest first, by what assigns spans to them. */
class Graphs {
  readonly #all: readonly TimedSpan[]
  readonly #byParent: ReadonlyMap<string | undefined, readonly TimedSpan[]>
  readonly #byQuestion: ReadonlyMap<string | undefined, readonly TimedSpan[]>
  readonly #byQuestionAndParent: ReadonlyMap<string, readonly TimedSpan[]>
  /** The innermost graph that lists each call id. */
  readonly #byCall = new Map<string, TraceSpan>()

  constructor(all: readonly TimedSpan[]) {
    this.#all = all
    this.#byParent = Map.groupBy(all, ({ node }) => node.span.parentSpanId)
    this.#byQuestion = Map.groupBy(all, ({ node }) => questionOf(node))
    this.#byQuestionAndParent = Map.groupBy(all, ({ node }) => questionAndParent(node))
    if (all.length === 1) return
    for (const { node } of all) {
      for (const { id } of toolCallsIn(node.transcript)) {
        if (id !== undefined && !this.#byCall.has(id)) this.#byCall.set(id, node)
      }
    }
  }

  /** Whether there is only one graph, which owns everything. */
  get isSingle(): boolean {
    return this.#all.length === 1
  }

  /** The graph that lists a tool's call; without an id, the innermost one. */
  ofTool(tool: TimedSpan): TraceSpan | undefined {
    const id = this.isSingle ? undefined : tool.node.tool?.id
    // Two requests of one trace may be active at the same time.
    if (id === undefined) return this.#innermost(tool, this.#byParent.get(tool.node.span.parentSpanId) ?? this.#all)
    return this.#byCall.get(id)
  }

  /** The innermost graph that was asked the same question, or the innermost one; those beside the span come first. */
  ofQuestion(span: TimedSpan): TraceSpan | undefined {
    const asked =
      this.#byQuestionAndParent.get(questionAndParent(span.node)) ?? this.#byQuestion.get(questionOf(span.node))
    return this.#innermost(span, asked ?? this.#byParent.get(span.node.span.parentSpanId) ?? this.#all)
  }

  /** The innermost other graph around one that was asked the same question. */
  aroundWithQuestion(graph: TimedSpan, question: string | undefined): TraceSpan | undefined {
    return this.#byQuestion.get(question)?.find((other) => other !== graph && encloses(other, graph))?.node
  }

  /** The first graph, shortest first, that was active when the span began. A single graph always matches. */
  #innermost(span: TimedSpan, graphs: readonly TimedSpan[]): TraceSpan | undefined {
    if (this.isSingle || graphs.length === 1) return graphs[0]?.node
    return graphs.find((graph) => graph.node !== span.node && encloses(graph, span))?.node
  }
}

function questionOf(node: TraceSpan): string | undefined {
  return lastUserText(node.input)
}

function questionAndParent(node: TraceSpan): string {
  return JSON.stringify([questionOf(node), node.span.parentSpanId])
}

/** The enclosing graph that was asked the same question; else the tool in which it ran; else the wrapper with the same question. */
function parentOfGraph(
  graph: TimedSpan,
  graphs: Graphs,
  tools: readonly TimedSpan[],
  wrappers: readonly TraceSpan[],
): TraceSpan | undefined {
  if (graphs.isSingle) return graph.node.parent
  const question = questionOf(graph.node)
  const outer = graphs.aroundWithQuestion(graph, question)
  if (outer !== undefined) return outer
  const around = tools
    .filter((tool) => tool.node.parent !== graph.node && encloses(tool, graph))
    .map(({ node }) => node)
  const asked =
    question === undefined
      ? undefined
      : around.find((tool) => JSON.stringify(tool.toolArguments)?.includes(JSON.stringify(question)))
  const started = asked ?? (around.length === 1 ? around[0] : undefined)
  return started ?? wrappers.find((wrapper) => questionOf(wrapper) === question) ?? graph.node.parent
}

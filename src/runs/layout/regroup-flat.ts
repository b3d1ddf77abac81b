import { toolCallsIn } from '../../spans/content/messages.ts'
import { isFlat } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { lastUserText } from '../view/message-text.ts'

/** After this many comparisons, a trace of flat spans stays as it is. */
const MAX_COMPARISONS = 250_000
const MAX_STEPS = 2000

/**
 * Gives flat spans their correct parents. Some libraries write all spans of a run side by side, and under load even below the span of
 * another run (`Dialect.isFlat`). Their content shows where they belong: a tool execution to the graph that lists its call, a model call to
 * the graph that was active and was asked the same question, a graph to the tool or graph inside which it ran. A trace without a graph does
 * not change.
 */
export function regroupFlat(nodes: readonly TraceSpan[]): void {
  const flat = nodes.filter(isFlat)
  const graphs = flat.filter((node) => node.role === 'agent').toSorted(byLength)
  if (graphs.length === 0 || graphs.length * flat.length > MAX_COMPARISONS) return
  const tools = flat.filter((node) => node.role === 'tool')
  const graphsByCall = graphs.length === 1 ? undefined : indexCalls(graphs)
  for (const tool of tools) {
    const id = graphsByCall === undefined ? undefined : tool.tool?.id
    tool.parent = (id === undefined ? innermost(tool, besideFirst(tool, graphs)) : graphsByCall?.get(id)) ?? tool.parent
  }
  const wrappers = nodes.filter((node) => node.role === 'entry' && !flat.includes(node))
  for (const graph of graphs) graph.parent = parentOfGraph(graph, graphs, tools, wrappers)
  const steps = flat.filter((node) => node.role === 'step').toSorted(byLength)
  for (const step of steps) step.parent = innermost(step, sameQuestion(step, graphs))
  for (const node of flat) {
    if (node.role !== 'model') continue
    const graph = innermost(node, sameQuestion(node, graphs))
    // If a graph has several agents, the step around a model call names the agent.
    const step =
      steps.length > MAX_STEPS
        ? undefined
        : steps.find((other) => other.parent === graph && encloses(other, node) && hasAgent(other))
    node.parent = step ?? graph ?? node.parent
  }
}

function hasAgent(node: TraceSpan): boolean {
  return node.agent?.name !== undefined
}

function byLength(left: TraceSpan, right: TraceSpan): number {
  return left.span.endTimeMs - left.span.startTimeMs - (right.span.endTimeMs - right.span.startTimeMs)
}

/** The innermost graph that lists each call id. */
function indexCalls(graphs: readonly TraceSpan[]): ReadonlyMap<string, TraceSpan> {
  const index = new Map<string, TraceSpan>()
  for (const graph of graphs) {
    for (const call of toolCallsIn(graph.transcript)) {
      if (call.id !== undefined && !index.has(call.id)) index.set(call.id, graph)
    }
  }
  return index
}

/** The first graph, shortest first, that was active when the span began. A single graph always matches. */
function innermost(node: TraceSpan, graphs: readonly TraceSpan[]): TraceSpan | undefined {
  return graphs.length === 1 ? graphs[0] : graphs.find((graph) => graph !== node && encloses(graph, node))
}

function encloses(outer: TraceSpan, inner: TraceSpan): boolean {
  return outer.span.startTimeMs <= inner.span.startTimeMs && outer.span.endTimeMs >= inner.span.endTimeMs
}

function sameQuestion(node: TraceSpan, graphs: readonly TraceSpan[]): readonly TraceSpan[] {
  if (graphs.length === 1) return graphs
  const question = questionOf(node)
  const same = graphs.filter((graph) => questionOf(graph) === question)
  return besideFirst(node, same.length === 0 ? graphs : same)
}

/** Those of several graphs that have the parent of the span, if there are any: two requests of one trace may ask the same question. */
function besideFirst(node: TraceSpan, graphs: readonly TraceSpan[]): readonly TraceSpan[] {
  if (graphs.length === 1) return graphs
  const beside = graphs.filter((graph) => graph.span.parentSpanId === node.span.parentSpanId)
  return beside.length === 0 ? graphs : beside
}

function questionOf(node: TraceSpan): string | undefined {
  return lastUserText(node.input)
}

/** The enclosing graph that was asked the same question; else the tool in which it ran; else the wrapper with the same question. */
function parentOfGraph(
  graph: TraceSpan,
  graphs: readonly TraceSpan[],
  tools: readonly TraceSpan[],
  wrappers: readonly TraceSpan[],
): TraceSpan | undefined {
  if (graphs.length === 1) return graph.parent
  const question = questionOf(graph)
  const isAround = (other: TraceSpan): boolean => other !== graph && encloses(other, graph)
  const outer = graphs.find((other) => isAround(other) && questionOf(other) === question)
  if (outer !== undefined) return outer
  const around = tools.filter((tool) => tool.parent !== graph && isAround(tool))
  const asked = around.filter(
    (tool) => question !== undefined && JSON.stringify(tool.toolArguments)?.includes(JSON.stringify(question)),
  )
  const started = asked[0] ?? (around.length === 1 ? around[0] : undefined)
  return started ?? wrappers.find((wrapper) => questionOf(wrapper) === question) ?? graph.parent
}

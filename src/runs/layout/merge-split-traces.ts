import { toolCallsIn } from '../../spans/content/messages.ts'
import { callsOf, inputOf, isFlat } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { answeredIds, Continuity, isQuestion } from './continuity.ts'
import type { RunPlan } from './run-layout.ts'
import { OnlyAround } from './time-ranges.ts'
import { compareSpans } from './tree.ts'
import { lastUserText } from '../view/message-text.ts'

/**
 * Merges runs that a library split over several traces by starting each span without a parent: agentless model calls that answer one
 * another's tool calls by id, or are of one request, and agentless calls of a graph whose own span lists its messages.
 *
 * @param loose tools and steps that are alone in their traces; they join the only graph that was active
 */
export function mergeSplitTraces(all: readonly RunPlan[], loose: readonly TraceSpan[]): readonly RunPlan[] {
  if (loose.length > 0) takeLoose(all, loose)
  if (all.length < 2) return all
  const plans = withoutStrayWork(all)
  const spread = plans.filter((plan) => plan.root.role === 'model' && plan.root.span.parentSpanId === undefined)
  if (spread.length === 0) return plans
  spread.sort((left, right) => compareSpans(left.root.span, right.root.span))
  const graphs = new AskedGraphs(
    plans.filter((plan) => plan.models.length === 0 && plan.root.dialect.transcript !== undefined),
  )
  const joined = new Set<RunPlan>()
  const byCallId = new Map<string, RunPlan>()
  const byRequest = new Map<string, RunPlan>()
  const latest: RunPlan[] = []
  const continuity = new Continuity()
  for (const plan of spread) {
    const { requestId } = plan.root
    const ofRequest = requestId === undefined ? undefined : byRequest.get(requestId)
    const target = graphs.find(plan) ?? earlierPart(plan, { byCallId, latest, ofRequest, continuity })
    if (requestId !== undefined && ofRequest === undefined) byRequest.set(requestId, target ?? plan)
    latest.push(target ?? plan)
    if (latest.length > MAX_COMPARED) latest.shift()
    for (const model of plan.models) {
      for (const call of callsOf(model)) if (call.id !== undefined) byCallId.set(call.id, target ?? plan)
    }
    if (target === undefined) continue
    take(target, plan)
    joined.add(plan)
  }
  return joined.size === 0 ? plans : plans.filter((plan) => !joined.has(plan))
}

/**
 * Moves spans below a wrapper of another run, in another trace, to the graph that made them. A wrapper with nothing else below is not a
 * run.
 */
function withoutStrayWork(plans: readonly RunPlan[]): readonly RunPlan[] {
  const wrappers = plans.filter(isWrapper)
  if (wrappers.length === 0) return plans
  const graphs = plans.filter(({ root }) => root.role === 'agent' && isFlat(root))
  if (graphs.length === 0 || graphs.length * wrappers.length > MAX_GUESSES) return plans
  const taken = new Set<RunPlan>()
  for (const plan of wrappers) {
    const found = graphs.filter((graph) => madeAll(graph, plan))
    const [graph] = found
    if (graph === undefined || found.length > 1) continue
    take(graph, plan)
    taken.add(plan)
  }
  return taken.size === 0 ? plans : plans.filter((plan) => !taken.has(plan))
}

/** Whether a run is a wrapper that only contains spans of a library that writes them side by side. */
function isWrapper({ root, models, tools }: RunPlan): boolean {
  return (
    root.role === 'entry' && !isFlat(root) && models.length + tools.length > 0 && [...models, ...tools].every(isFlat)
  )
}

/** Whether a graph was active during all calls, was asked the same question, and lists these tool calls. */
function madeAll({ root }: RunPlan, { models, tools }: RunPlan): boolean {
  const work = [...models, ...tools]
  const isAround = work.every(
    ({ span, dialect }) =>
      dialect === root.dialect && root.span.startTimeMs <= span.startTimeMs && root.span.endTimeMs >= span.startTimeMs,
  )
  if (!isAround) return false
  const question = lastUserText(root.input)
  if (models.some((model) => lastUserText(model.input) !== question)) return false
  const ids = new Set(toolCallsIn(root.transcript).map(({ id }) => id))
  return tools.every(({ tool }) => tool?.id !== undefined && ids.has(tool.id))
}

/** Maximum number of recent runs whose messages are compared. Comparisons by id have no limit. */
const MAX_COMPARED = 32

/** Earlier runs that a run may continue. */
interface EarlierParts {
  readonly byCallId: ReadonlyMap<string, RunPlan>
  readonly latest: readonly RunPlan[]
  /** The run of the same request, which is the only sign if the messages are not known. */
  readonly ofRequest: RunPlan | undefined
  readonly continuity: Continuity
}

/** The run whose tool calls this one answers, by id; else the latest one whose messages it repeats and continues. */
function earlierPart(plan: RunPlan, { byCallId, latest, ofRequest, continuity }: EarlierParts): RunPlan | undefined {
  const input = inputOf(plan.root)
  if (input === undefined) return ofRequest?.root.dialect === plan.root.dialect ? ofRequest : undefined
  const answered = answeredIds(input)
  const byId = answered.map((id) => byCallId.get(id)).find((found) => found !== undefined)
  if (byId !== undefined || isQuestion(input.at(-1))) return byId
  return latest.findLast((candidate) => {
    const last = candidate.models.at(-1)
    return last !== undefined && last.dialect === plan.root.dialect && continuity.repeats(input, last)
  })
}

function take(target: RunPlan, plan: RunPlan): void {
  target.models.push(...plan.models)
  target.tools.push(...plan.tools)
  target.models.sort((left, right) => compareSpans(left.span, right.span))
  target.tools.sort((left, right) => compareSpans(left.span, right.span))
  if (!plan.isComplete) target.isComplete = false
}

function takeLoose(plans: readonly RunPlan[], loose: readonly TraceSpan[]): void {
  const graphs = plans.filter(({ root, models }) => models.length === 0 && isFlat(root))
  const byDialect = new Map(
    [...Map.groupBy(graphs, ({ root }) => root.dialect)].map(([dialect, some]) => [
      dialect,
      new OnlyAround(some, rootOf),
    ]),
  )
  for (const node of loose.toSorted((left, right) => compareSpans(left.span, right.span))) {
    const graph = byDialect.get(node.dialect)?.find(node.span.startTimeMs, node.span.endTimeMs)
    if (graph === undefined) continue
    if (node.role === 'tool') graph.tools.push(node)
    else graph.inside.push(node)
  }
}

/** After this many comparisons, spans are no longer assigned to a run by time alone. */
const MAX_GUESSES = 1_000_000

/** Graphs by their question, to find the only one that was active at a time and was asked the same. */
class AskedGraphs {
  readonly #byQuestion = new Map<string, OnlyAround<RunPlan>>()

  constructor(graphs: readonly RunPlan[]) {
    const byQuestion = Map.groupBy(graphs, ({ root }) => asked(root))
    for (const [question, some] of byQuestion) this.#byQuestion.set(question, new OnlyAround(some, rootOf))
  }

  find({ root }: RunPlan): RunPlan | undefined {
    const { startTimeMs } = root.span
    return this.#byQuestion.get(asked(root))?.find(startTimeMs, startTimeMs)
  }
}

function asked({ dialect, input }: TraceSpan): string {
  return JSON.stringify([dialect.name, lastUserText(input)])
}

function rootOf({ root }: RunPlan): TraceSpan {
  return root
}

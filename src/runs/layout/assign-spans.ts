import { aboveChildrenOf, belowTool, OUTSIDE, placementOf } from '../placement.ts'
import type { Above, Below } from '../placement.ts'
import { isFlat } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { chainAgentlessSpans, type AgentlessSpan } from './agentless-chats.ts'
import { markIncomplete, newPlan, type RunPlan } from './run-layout.ts'
import { answerIn } from '../view/same-answer.ts'

/** The ancestors of a span that matter. */
interface Place {
  readonly above: Above
  readonly plan?: RunPlan
  readonly model?: TraceSpan | undefined
  readonly tool?: TraceSpan
  /** The span around it that serves the run without being its loop. */
  readonly aside?: TraceSpan
  /** The retrieval around it. */
  readonly retrieval?: TraceSpan
  /** A tool outside of any run. */
  readonly outerTool?: TraceSpan
  /** True below a part of a run whose agent's span is lost, or never ended. */
  readonly lacksAgent?: boolean
  /** True if it is unknown which run below the plan's agent owns the span. */
  readonly isAmbiguous?: boolean
}

/** The runs of a trace. */
export interface TracePlan {
  readonly plans: readonly RunPlan[]
  /** Parentless spans of a library that writes spans side by side, which no run of the trace claims. */
  readonly loose: readonly TraceSpan[]
}

/**
 * Decides which spans of a trace form which run: where runs begin, which runs are children of a tool call, which spans are duplicates of
 * one call, and where model calls without an agent belong.
 *
 * @param spans parents before children, siblings by start
 */
export function planRuns(spans: readonly TraceSpan[]): TracePlan {
  const planner = new Planner(findBelow(spans))
  const places: Place[] = []
  for (const span of spans) {
    const place = (span.parent && places[span.parent.index]) ?? NOWHERE
    places[span.index] = place.above.isExcluded ? place : planner.place(span, place)
  }
  const plans = [...planner.plans, ...chainAgentlessSpans(planner.agentless, planner.plans)]
  return { plans, loose: plans.length === 0 ? spans.filter(isLoose) : [] }
}

function isLoose(span: TraceSpan): boolean {
  const isPart = span.role === 'tool' || span.role === 'step'
  return isPart && !span.isOpen && span.span.parentSpanId === undefined && isFlat(span)
}

const NOWHERE: Place = { above: OUTSIDE }

/** How many of the latest model calls under one span may be in progress when a client's own span of one of them begins. */
const MAX_AT_ONCE = 64

class Planner {
  readonly plans: RunPlan[] = []
  readonly agentless: AgentlessSpan[] = []
  readonly #below: readonly Below[]
  /** The latest model calls by parent, to find other spans of the same call beside them. */
  readonly #latest = new Map<string, TraceSpan[]>()

  constructor(below: readonly Below[]) {
    this.#below = below
  }

  /** Assigns a span to its run, and returns the place of its children. */
  place(span: TraceSpan, around: Place): Place {
    const { plan } = around
    if ((span.isOpen || span.isOrphan) && plan !== undefined) plan.isComplete = false
    const place = span.isAmbiguous && span.parent !== undefined ? ambiguousIn(around) : around
    if (place.isAmbiguous === true && span.role !== 'agent' && span.role !== 'entry' && span.role !== 'evaluator')
      return place
    switch (span.role) {
      case 'agent':
      case 'entry':
        return this.#placeAgent(span, place)
      case 'model':
        return this.#placeModel(span, place)
      case 'tool':
      case 'handoff':
        return this.#placeTool(span, place)
      case 'aside':
        return placeAside(span, place)
      case 'step':
        return placeStep(span, place)
      case 'evaluator':
        return { above: aboveChildrenOf(span, place.above, 'part') }
      default:
        return place
    }
  }

  /** Places an agent, or an entry that may be one. Inside a run, an entry is a step, or a tool that a model requested by name. */
  #placeAgent(span: TraceSpan, place: Place): Place {
    // The execution of a tool may have a span of its own, which is the agent's if the tool starts one.
    const isExecution = place.tool !== undefined && span.role === 'entry' && isSameTool(place.tool, span)
    if (isExecution && !span.isOpen) place.tool?.addInner(span)
    const placement = placementOf(span, place.above, this.#below[span.index] ?? NOTHING_BELOW)
    if (placement === 'part') {
      if (span.role === 'agent') {
        place.plan?.inside.push(span)
        // ADK starts the agent of a hand-off inside the model's span.
        return { ...withoutModel(place), above: aboveChildrenOf(span, place.above, placement) }
      }
      if (place.plan === undefined || place.tool !== undefined || place.isAmbiguous === true) return place
      const name = span.dialect.tool === undefined ? undefined : span.tool?.name
      return name !== undefined && wasAskedFor(name, place.plan) ? this.#placeTool(span, place) : placeStep(span, place)
    }
    const parent = placement === 'nested' && place.plan ? { plan: place.plan, tool: place.tool } : undefined
    const plan = newPlan(span, parent)
    const siblings = parent === undefined ? this.plans : parent.plan.children
    siblings.push(plan)
    return { above: aboveChildrenOf(span, place.above, placement), plan }
  }

  #placeModel(span: TraceSpan, place: Place): Place {
    if (place.model !== undefined && !isFollowUp(span, place)) {
      if (!span.isOpen) place.model.addInner(span)
      return place
    }
    const seen = this.#seenBeside(span)
    if (seen !== undefined) {
      seen.addInner(span)
      return { ...place, model: seen }
    }
    if (place.plan !== undefined && (place.tool === undefined || place.aside !== undefined)) {
      this.#remember(span)
      const { aside } = place
      if (!span.isOpen && aside === undefined) place.plan.models.push(span)
      else if (!span.isOpen && aside !== undefined) place.plan.sideModels.push({ model: span, aside })
      return { ...place, model: span }
    }
    // The agent that makes a model call records it.
    if (this.#below[span.index]?.hasAgents === true) return place
    const { lacksAgent = false } = place
    this.agentless.push({ span, kind: 'model', plan: place.plan, tool: place.tool ?? place.outerTool, lacksAgent })
    this.#remember(span)
    // Below it, another model span is the same call, and a tool span is one that it requested.
    return { ...place, model: span }
  }

  /**
   * The call that a client's own span records again if the instrumentation of the client is not its parent: it began earlier under the same
   * parent, is still in progress, and has the same response. Two other instrumentations may write it one after the other: they then have the same
   * response with the same text.
   */
  #seenBeside(span: TraceSpan): TraceSpan | undefined {
    if (span.isOpen) return undefined
    const responseId = span.model?.responseId
    if (span.dialect.quirks?.isOfClient !== true) {
      if (responseId === undefined) return undefined
      return this.#latest.get(span.topId)?.findLast((other) => {
        if (other.isOpen || other.span.scope.name === span.span.scope.name || other.parent !== span.parent) return false
        return other.model?.responseId === responseId && answerIn(other) === answerIn(span)
      })
    }
    return this.#latest.get(span.topId)?.findLast((other) => {
      if (other.isOpen || other.dialect.quirks?.isOfClient === true) return false
      const { startTimeMs, endTimeMs } = other.span
      const isAround = startTimeMs <= span.span.startTimeMs && endTimeMs >= span.span.startTimeMs
      return isAround && other.parent === span.parent && other.model?.responseId === responseId
    })
  }

  #remember(model: TraceSpan): void {
    const latest = this.#latest.get(model.topId)
    if (latest === undefined) this.#latest.set(model.topId, [model])
    else if (latest.push(model) > MAX_AT_ONCE) latest.shift()
  }

  #placeTool(span: TraceSpan, place: Place): Place {
    // An entry that a model requested by name is a tool.
    const above = belowTool(place.above)
    if (place.plan !== undefined && place.tool === undefined) {
      // A tool of a guardrail or retriever is not one that the agent called.
      if (!span.isOpen && place.aside === undefined) place.plan.tools.push(span)
      return { ...withoutModel(place), above, tool: span }
    }
    if (place.tool !== undefined && isSameTool(place.tool, span)) {
      if (!span.isOpen) place.tool.addInner(span)
      return place
    }
    const outer = place.tool ?? place.outerTool
    if (!span.isOpen) this.agentless.push({ span, kind: 'tool', plan: place.plan, tool: outer })
    return place.tool === undefined ? { ...withoutModel(place), above, outerTool: outer ?? span } : place
  }
}

/** Spans here belong to one of several runs. No run gets them, and all of these runs are incomplete. */
function ambiguousIn({ above, plan }: Place): Place {
  if (plan === undefined) return { above: belowTool(above), isAmbiguous: true }
  markIncomplete(plan)
  return { above: belowTool(above), plan, isAmbiguous: true }
}

/**
 * Outside of any run, model calls below it are runs of their own. A decision is a model call itself, and another one inside it, or a model
 * call, is the same.
 */
function placeAside(span: TraceSpan, place: Place): Place {
  const above = aboveChildrenOf(span, place.above, 'part')
  const { plan } = place
  if (plan === undefined) return { ...withoutModel(place), above, outerTool: place.outerTool ?? span }
  const kind = span.dialect.aside?.(span.span)
  if (kind === 'decision' && place.model?.role === 'aside') {
    if (!span.isOpen) place.model.addInner(span)
    return place
  }
  const isSearch = kind === 'retrieval' || kind === 'memory'
  const below = { ...withoutModel(place), above, ...(isSearch && placeRetrieval(span, place, plan)) }
  const aside = place.aside ?? span
  if (place.tool !== undefined) return { ...below, aside }
  if (place.aside === undefined) plan.asides.push(span)
  if (kind !== 'decision') return { ...below, aside }
  if (!span.isOpen) plan.sideModels.push({ model: span, aside })
  return { ...below, aside, model: span }
}

/** A retrieval inside another one is the same, recorded by another library, or a part of it. */
function placeRetrieval(span: TraceSpan, { retrieval, tool }: Place, plan: RunPlan): Pick<Place, 'retrieval'> {
  if (retrieval !== undefined) {
    if (!span.isOpen) retrieval.addInner(span)
    return {}
  }
  if (!span.isOpen) plan.retrievals.push({ span, tool })
  return { retrieval: span }
}

function placeStep(span: TraceSpan, place: Place): Place {
  if (place.tool === undefined && place.aside === undefined) place.plan?.inside.push(span)
  // A step is always inside of something of its own library.
  return place.plan === undefined && span.isOrphan ? { ...place, lacksAgent: true } : place
}

/** Whether a model span inside another one of an agent's library is a later call. */
function isFollowUp({ dialect }: TraceSpan, { plan, model }: Place): boolean {
  return plan !== undefined && dialect.quirks?.modelsNest === true && model?.dialect === dialect
}

function withoutModel(place: Place): Place {
  return place.model === undefined ? place : { ...place, model: undefined }
}

function isSameTool(outer: TraceSpan, inner: TraceSpan): boolean {
  if (inner.dialect.tool === undefined) return false
  const { name, id } = inner.tool ?? {}
  return name !== undefined && (name === outer.tool?.name || (id !== undefined && id === outer.tool?.id))
}

/** Whether the run's latest model call requested a tool of this name. */
function wasAskedFor(name: string, plan: RunPlan): boolean {
  return plan.models.at(-1)?.toolCalls.some((call) => call.name === name) === true
}

const NOTHING_BELOW: Below = { hasWork: false, hasAgents: false }

function findBelow(spans: readonly TraceSpan[]): readonly Below[] {
  const below = spans.map(({ forgottenBelow }) => ({ ...(forgottenBelow ?? NOTHING_BELOW) }))
  // Children before parents.
  for (let index = spans.length - 1; index >= 0; index--) {
    const span = spans[index]
    const own = below[index]
    const above = span?.parent && below[span.parent.index]
    if (span === undefined || own === undefined || above === undefined || span.role === 'evaluator') continue
    addBelow(above, span, own)
  }
  return below
}

/** Adds the properties of a child, and of everything below it, to its parent. */
export function addBelow(
  above: { hasWork: boolean; hasAgents: boolean },
  child: Pick<TraceSpan, 'role' | 'isSingleRun'>,
  below: Below,
): void {
  const isTool = child.role === 'tool' || child.role === 'handoff'
  const startsOwnRuns = isTool || child.role === 'aside'
  const isAgent = child.role === 'agent' || (child.role === 'entry' && below.hasWork && child.isSingleRun)
  if (isAgent || (below.hasAgents && !startsOwnRuns)) above.hasAgents = true
  if (isTool || isAgent || child.role === 'model' || below.hasWork) above.hasWork = true
}

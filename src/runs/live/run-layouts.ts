import type { RunPlan } from '../layout/run-layout.ts'
import type { KeptSpans, LiveRun, LiveRunSource } from './live-run.ts'
import type { LiveSpan } from './live-span.ts'
import { findPlan, planLive } from './plan-live.ts'
import type { SpanGroup } from './span-group.ts'

/**
 * The layouts of agents' runs. A run is laid out from its agent's span and what is below it; where the library writes spans side by
 * side, from all of the group. Runs of agents that agents started share the layout of the outermost one once that is over: in
 * deep nesting each of its own would take as long as all of them.
 */
export class RunLayouts implements LiveRunSource {
  readonly #started: () => number

  /** @param started How many spans have started. */
  constructor(started: () => number) {
    this.#started = started
  }

  /** Says that spans of an agent's run may be in another group. */
  lookAlsoIn(agent: LiveSpan, other: SpanGroup): void {
    agent.otherGroup = other
    other.readBy.push(agent.group)
  }

  plan(run: LiveRun): RunPlan | undefined {
    const { agent, group } = run
    const { kept } = run
    if (kept === undefined) return findPlan(planLive(this.#spansOf(agent), group.truncated), agent.span.spanId)
    if (kept.spans !== undefined) return findPlan(planLive(kept.spans, kept.lacksSpans), agent.span.spanId)
    if (run.nested && outermost(agent).hasOpen) {
      return findPlan(planLive(agent.withAllBelow(kept.startedByOrder), kept.lacksSpans), agent.span.spanId)
    }
    return this.#sharedPlans(outermost(agent), kept).get(agent.span.spanId)
  }

  hasOpenSpans({ agent, nested }: LiveRun): boolean {
    const { openCount, spans } = agent.group
    if (agent.otherGroup !== undefined && holdsOpenNested(agent.otherGroup)) return true
    if (openCount === 0 || (!nested && agent === spans[0])) return openCount > 0
    return agent.isFlat ? spans.some((span) => span.isOpen && span.isWithin(agent)) : agent.hasOpen
  }

  freeze(run: LiveRun): void {
    const { agent, group } = run
    run.kept = {
      spans: agent.isFlat || agent.otherGroup !== undefined ? [...this.#spansOf(agent)] : undefined,
      startedByOrder: this.#started(),
      lacksSpans: group.truncated,
    }
  }

  #spansOf(agent: LiveSpan): readonly LiveSpan[] {
    const { spans } = agent.group
    const own = agent.isFlat || spans[0] === agent ? spans : agent.withAllBelow()
    const { otherGroup } = agent
    return otherGroup === undefined ? own : [...own, ...otherGroup.spans]
  }

  #sharedPlans(top: LiveSpan, { startedByOrder, lacksSpans }: KeptSpans): ReadonlyMap<string, RunPlan> {
    if (top.plans !== undefined && !top.hasOpen) return top.plans
    const plans = new Map<string, RunPlan>()
    const waiting = [...planLive(top.withAllBelow(startedByOrder), lacksSpans)]
    for (let plan = waiting.pop(); plan !== undefined; plan = waiting.pop()) {
      plans.set(plan.root.span.spanId, plan)
      waiting.push(...plan.children)
    }
    top.plans = plans
    return plans
  }
}

/** Whether agents that tools started are in a group in which spans are open: which tools these are is known when they have ended. */
function holdsOpenNested({ closed, openCount, spans: [root, ...below] }: SpanGroup): boolean {
  return !closed && openCount > 0 && below.some((span) => span.role === 'agent' && span !== root)
}

/** The outermost agent whose run an agent's run is part of. */
function outermost(agent: LiveSpan): LiveSpan {
  let found = agent
  for (let span = agent.above; span !== undefined; span = span.above) if (span.run !== undefined) found = span
  return found
}

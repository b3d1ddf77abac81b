import type { RunPlan } from '../layout/run-layout.ts'
import type { LiveRunSource } from './live-run.ts'
import type { LiveGroup, LiveSpan } from './live-span.ts'
import { findPlan, keptSpansOf, planLive, plansById, plansOf } from './plan-live.ts'
import { readBytesOf } from '../read-bytes.ts'
import { readAhead } from './read-ahead.ts'
import type { KeptSpans } from './span-group.ts'

/** What remains of a run when it is settled. */
interface Kept {
  /** The spans themselves, if they are not just those below the agent. */
  readonly beside: KeptSpans<LiveSpan> | undefined
  /** How many spans had started by then. */
  readonly startedByOrder: number
  readonly lacksSpans: boolean
}

/**
 * The spans of an agent's run. Its layout uses the agent's span and everything below; if the library writes spans side by side, it uses the
 * whole group. Nested runs share the layout of the outermost agent once that has ended: with deep nesting, separate layouts would each take
 * as long as one of everything.
 */
export class AgentSpans implements LiveRunSource {
  readonly #agent: LiveSpan
  readonly #isNested: boolean
  readonly #started: () => number
  /** The spans of the run once it is settled. */
  #kept: Kept | undefined

  /**
   * @param isNested whether a tool of another agent started it
   * @param started how many spans have started so far
   */
  constructor(agent: LiveSpan, isNested: boolean, started: () => number) {
    this.#agent = agent
    this.#isNested = isNested
    this.#started = started
  }

  get version(): number {
    return this.#agent.group.version
  }

  get spanCount(): number {
    if (this.#kept?.beside !== undefined) return this.#kept.beside.spans.length
    return this.#isNested ? this.#agent.subtree.size : this.#agent.group.spans.size
  }

  get contentBytes(): number {
    return this.#isNested ? this.#agent.subtree.contentBytes : this.#agent.group.contentBytes
  }

  get readBytes(): number {
    return readBytesOf(this.#read())
  }

  get hasOpenSpans(): boolean {
    const agent = this.#agent
    const { openCount, top } = agent.group
    if (agent.otherGroup !== undefined && holdsOpenNested(agent.otherGroup)) return true
    if (openCount === 0 || (!this.#isNested && agent === top)) return openCount > 0
    return agent.hasOpen
  }

  plan(): RunPlan | undefined {
    const agent = this.#agent
    const kept = this.#kept
    if (kept === undefined && agent.isFlat && agent.otherGroup === undefined) {
      return plansOf(keptSpansOf(agent.group), agent.group.truncated).get(agent.span.spanId)
    }
    if (kept === undefined) return findPlan(planLive(this.#spans(), agent.group.truncated), agent.span.spanId)
    if (kept.beside !== undefined) {
      return plansOf(kept.beside, kept.lacksSpans).get(agent.span.spanId)
    }
    if (this.#isNested && outermost(agent).hasOpen) {
      return findPlan(planLive(agent.withAllBelow(kept.startedByOrder), kept.lacksSpans), agent.span.spanId)
    }
    return sharedPlans(outermost(agent), kept).get(agent.span.spanId)
  }

  freeze(): void {
    const agent = this.#agent
    this.#kept = {
      beside: this.#keepBeside(),
      startedByOrder: this.#started(),
      lacksSpans: agent.group.truncated,
    }
  }

  readInSteps(): Generator<undefined, void> {
    return readAhead(this.#read())
  }

  #read(): readonly LiveSpan[] {
    return this.#kept?.beside?.spans ?? this.#agent.withAllBelow()
  }

  #keepBeside(): KeptSpans<LiveSpan> | undefined {
    const { group, otherGroup, isFlat } = this.#agent
    if (otherGroup !== undefined) return { version: group.version, spans: this.#spans(), plans: undefined }
    // Runs that are settled together share their spans and their layout.
    return isFlat ? keptSpansOf(group) : undefined
  }

  #spans(): readonly LiveSpan[] {
    const agent = this.#agent
    const { spans, top } = agent.group
    const own = agent.isFlat || top === agent ? [...spans] : agent.withAllBelow()
    return agent.otherGroup === undefined ? own : [...own, ...agent.otherGroup.spans]
  }
}

/** Records that spans of an agent's run may be in another group. */
export function lookAlsoIn(agent: LiveSpan, other: LiveGroup): void {
  agent.otherGroup = other
  other.readBy.push(agent.group)
}

function sharedPlans(top: LiveSpan, { startedByOrder, lacksSpans }: Kept): ReadonlyMap<string, RunPlan> {
  if (top.plans !== undefined && !top.hasOpen) return top.plans
  top.plans = plansById(planLive(top.withAllBelow(startedByOrder), lacksSpans))
  return top.plans
}

/** Whether a group with open spans has agents that tools may have started. Which ones is only known when all spans have ended. */
function holdsOpenNested({ closed, openCount, spans, top }: LiveGroup): boolean {
  return !closed && openCount > 0 && [...spans].some((span) => span.role === 'agent' && span !== top)
}

/** The outermost agent whose run contains an agent's run. */
function outermost(agent: LiveSpan): LiveSpan {
  let found = agent
  for (let span = agent.above; span !== undefined; span = span.above) if (span.run !== undefined) found = span
  return found
}

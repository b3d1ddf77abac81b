import { MAX_BEYOND_MS, madeCalls } from './same-call.ts'
import type { RunPlan } from './run-layout.ts'

/** Agents that were active for longer are compared with calls of any time. */
const MAX_INDEXED_SECONDS = 60

/** After this many comparisons, runs without an agent stay as they are. */
const MAX_COMPARISONS = 1_000_000

/** Finds the runs of agents that called models, by the time when they were active. */
export class AgentsAtWork {
  readonly #bySecond = new Map<number, RunPlan[]>()
  readonly #long: RunPlan[] = []
  #comparisons = 0

  constructor(agents: readonly RunPlan[]) {
    for (const agent of agents) {
      if (agent.models.length === 0) continue
      const first = toSecond(agent.root.span.startTimeMs - MAX_BEYOND_MS)
      const last = toSecond(agent.root.span.endTimeMs + MAX_BEYOND_MS)
      if (last - first > MAX_INDEXED_SECONDS) this.#long.push(agent)
      else for (let second = first; second <= last; second++) this.#add(second, agent)
    }
  }

  /** The run of the agent that made all calls of an agentless run, which an instrumentation of the model's client recorded. */
  callerOf({ models }: RunPlan): RunPlan | undefined {
    const [first] = models
    if (first === undefined) return undefined
    const { startTimeMs } = first.span
    return (
      this.#findCaller(this.#bySecond.get(toSecond(startTimeMs)) ?? [], models, startTimeMs) ??
      this.#findCaller(this.#long, models, startTimeMs)
    )
  }

  #findCaller(agents: readonly RunPlan[], calls: RunPlan['models'], startTimeMs: number): RunPlan | undefined {
    for (const agent of agents) {
      const { span } = agent.root
      this.#comparisons += 1
      if (this.#comparisons > MAX_COMPARISONS) return undefined
      if (span.startTimeMs > startTimeMs + MAX_BEYOND_MS || span.endTimeMs + MAX_BEYOND_MS < startTimeMs) {
        continue
      }
      this.#comparisons += agent.models.length * calls.length
      if (this.#comparisons > MAX_COMPARISONS) return undefined
      if (madeCalls(agent, calls)) return agent
    }
    return undefined
  }

  #add(second: number, agent: RunPlan): void {
    const list = this.#bySecond.get(second)
    if (list === undefined) this.#bySecond.set(second, [agent])
    else list.push(agent)
  }
}

function toSecond(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}

import type { AgentRun } from '../model/agent-run.ts'

/** How many names are remembered, to list them if nothing matches. */
const MAX_SEEN = 20

/** The runs that a command selects. An empty list selects all. */
export interface RunFilterOptions {
  /** Names of agents. */
  readonly agents: readonly string[]
  /** Trace ids, or prefixes of them. */
  readonly traces: readonly string[]
}

/** Chooses runs by agent and trace, and knows which agents it has seen. */
export class RunFilter {
  readonly #agents: ReadonlySet<string>
  readonly #traces: readonly string[]
  readonly #seen = new Set<string>()

  constructor({ agents, traces }: RunFilterOptions) {
    this.#agents = new Set(agents)
    this.#traces = traces.map((trace) => trace.toLowerCase())
  }

  /** Whether the filter selects all runs. */
  get isOpen(): boolean {
    return this.#agents.size === 0 && this.#traces.length === 0
  }

  /** Whether this run is selected. */
  matches(run: AgentRun): boolean {
    if (this.isOpen) return true
    const { name } = run.agent
    if (name !== undefined && this.#seen.size < MAX_SEEN) this.#seen.add(name)
    return this.admits(name, run.traceId)
  }

  /** Whether a run of this agent in this trace is selected. A run id may replace the trace id, with which it begins. */
  admits(agent: string | undefined, traceId: string): boolean {
    return this.#matchesAgent(agent) && this.#matchesTrace(traceId)
  }

  /** Whether this run or one nested in it is selected. */
  matchesWithin(run: AgentRun): boolean {
    // Every run is compared, so that all names are remembered.
    const inChildren = run.children.filter((child) => this.matchesWithin(child))
    return this.matches(run) || inChildren.length > 0
  }

  /** Why nothing matched, such as `no run of agent "wether"; agents in the files: "weather"`. */
  describeNone(): string {
    const parts: string[] = []
    if (this.#agents.size > 0) parts.push(`of agent ${quoted(this.#agents)}`)
    if (this.#traces.length > 0) parts.push(`in trace ${this.#traces.join(', ')}`)
    const seen = this.#seen.size === 0 ? '' : `; agents in the files: ${quoted(this.#seen)}`
    return `no run ${parts.join(' ')}${seen}`
  }

  #matchesAgent(name: string | undefined): boolean {
    return this.#agents.size === 0 || (name !== undefined && this.#agents.has(name))
  }

  #matchesTrace(traceId: string): boolean {
    return this.#traces.length === 0 || this.#traces.some((trace) => traceId.startsWith(trace))
  }
}

function quoted(names: Iterable<string>): string {
  return [...names].map((name) => JSON.stringify(name)).join(', ')
}

import type { AgentRun } from '../../src/model/agent-run.ts'
import { UsageError } from './usage-error.ts'

/** How many agents and traces are remembered, to list them if nothing matches. */
const MAX_SEEN = 20

/** The runs that a command selects. An empty list selects all. */
export interface RunFilterOptions {
  /** Names of agents. */
  readonly agents: readonly string[]
  /** Trace ids, or prefixes of them. */
  readonly traces: readonly string[]
}

/** Chooses runs by agent and trace, and remembers what it has chosen from. */
export class RunFilter {
  readonly #agents: ReadonlySet<string>
  readonly #traces: readonly string[]
  readonly #seenAgents = new Set<string>()
  readonly #seenTraces = new Set<string>()
  #isEmpty = true

  constructor({ agents, traces }: RunFilterOptions) {
    this.#agents = new Set(agents)
    this.#traces = traces.map((trace) => trace.toLowerCase())
  }

  /** Whether the filter selects all runs. */
  get #isOpen(): boolean {
    return this.#agents.size === 0 && this.#traces.length === 0
  }

  /** Whether this run is selected. */
  matches(run: AgentRun): boolean {
    if (this.#isOpen) return true
    const { name } = run.agent
    if (name !== undefined) remember(this.#seenAgents, name)
    remember(this.#seenTraces, run.traceId)
    const isChosen = this.admits(name, run.traceId)
    if (isChosen) this.#isEmpty = false
    return isChosen
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

  /**
   * Call it after all runs.
   *
   * @throws UsageError if there were runs and none was selected, such as `no run of agent "wether"; agents in the files: "weather"`.
   */
  check(): void {
    if (!this.#isEmpty || this.#seenTraces.size === 0) return
    const parts: string[] = []
    const seen: string[] = []
    if (this.#agents.size > 0) {
      parts.push(`of agent ${listed([...this.#agents].map((name) => JSON.stringify(name)))}`)
      const names = [...this.#seenAgents].map((name) => JSON.stringify(name))
      seen.push(names.length === 0 ? 'no run in the files names its agent' : `agents in the files: ${listed(names)}`)
    }
    if (this.#traces.length > 0) {
      parts.push(`in trace ${listed(this.#traces)}`)
      seen.push(`traces in the files: ${listed([...this.#seenTraces])}`)
    }
    throw new UsageError(`no run ${parts.join(' ')}; ${seen.join('; ')}`)
  }

  #matchesAgent(name: string | undefined): boolean {
    return this.#agents.size === 0 || (name !== undefined && this.#agents.has(name))
  }

  #matchesTrace(traceId: string): boolean {
    return this.#traces.length === 0 || this.#traces.some((trace) => traceId.startsWith(trace))
  }
}

function remember(seen: Set<string>, name: string): void {
  if (seen.size < MAX_SEEN) seen.add(name)
}

function listed(names: readonly string[]): string {
  return names.length < MAX_SEEN ? names.join(', ') : `${names.join(', ')} and perhaps others`
}

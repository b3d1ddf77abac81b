import type { AgentRun } from '../model/agent-run.ts'
import { countedTraits } from '../traits/metric-traits.ts'
import type { AgentMake } from '../traits/metric-traits.ts'
import { PerSecond } from './per-second.ts'
import type { Observation } from './score-instruments.ts'

/** For how many milliseconds after its last run a make of an agent is shown. */
const SHOWN_MS = 300_000
const MAX_AGENTS = 100
/** How many runs of one agent are looked at in a second. */
const MAX_A_SECOND = 2
/** How many makes of one agent are shown at a time, such as two prompts of an experiment. */
const MAX_MAKES = 4

const PARTS = ['prompt', 'tools', 'model'] as const

interface Seen {
  readonly make: AgentMake
  readonly observation: Observation
  lastMs: number
}

interface Agent {
  readonly makes: Map<string, Seen>
  readonly rate: PerSecond
  /** What differs from run to run, such as a prompt with the documents that were found, and is shown no more. */
  readonly varying: Set<keyof AgentMake>
}

/** The prompts, tools and models of agents, for a gauge: a change of the prompt, the tools or the model shows in Prometheus when it happens. */
export class AgentsSeen {
  readonly #now: () => number
  readonly #agents = new Map<string, Agent>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** @param agent as metrics name it */
  add(agent: string, run: AgentRun): void {
    if (!this.#agents.has(agent)) {
      if (this.#agents.size >= MAX_AGENTS) return
      this.#agents.set(agent, { makes: new Map(), rate: new PerSecond(MAX_A_SECOND, this.#now), varying: new Set() })
    }
    const known = this.#agents.get(agent)
    if (known === undefined || !known.rate.take()) return
    const { makes, varying } = known
    const { make } = countedTraits(run)
    const [prompt, tools, model] = PARTS.map((part) => (varying.has(part) ? undefined : make[part]))
    const key = `${prompt}\n${tools}\n${model}`
    const seen = makes.get(key)
    if (seen !== undefined) {
      seen.lastMs = this.#now()
      return
    }
    this.#forget(makes)
    if (makes.size >= MAX_MAKES) {
      const differing = PARTS.filter((part) => {
        const values = new Set([make, ...[...makes.values()].map((shown) => shown.make)].map((each) => each[part]))
        return values.size > MAX_MAKES && !varying.has(part)
      })
      for (const part of differing) varying.add(part)
      if (differing.length > 0) makes.clear()
      return
    }
    const attributes = {
      'gen_ai.agent.name': agent,
      ...(prompt !== undefined && { 'spanscore.agent.prompt': prompt }),
      ...(tools !== undefined && { 'spanscore.agent.tools': tools }),
      ...(model !== undefined && { 'gen_ai.request.model': model }),
    }
    makes.set(key, { make, observation: { attributes, value: 1 }, lastMs: this.#now() })
  }

  *observations(): Iterable<Observation> {
    for (const { makes } of this.#agents.values()) {
      this.#forget(makes)
      for (const { observation } of makes.values()) yield observation
    }
  }

  #forget(makes: Map<string, Seen>): void {
    for (const [key, { lastMs }] of makes) if (this.#now() - lastMs > SHOWN_MS) makes.delete(key)
  }
}

import type { AgentRun } from '../model/agent-run.ts'
import { countedTraits } from '../traits/metric-traits.ts'
import { PerSecond } from './per-second.ts'
import type { Observation } from './score-instruments.ts'

/** For how many milliseconds after its last run a make of an agent is shown. */
const SHOWN_MS = 300_000
const MAX_AGENTS = 100
/** How many runs of one agent are looked at in a second. */
const MAX_A_SECOND = 2
/** How many makes of one agent are shown at a time, such as two prompts of an experiment. */
const MAX_MAKES = 4

interface Seen {
  readonly observation: Observation
  lastMs: number
}

/** The prompts, tools and models of agents, for a gauge: a change of the prompt, the tools or the model shows in Prometheus when it happens. */
export class AgentsSeen {
  readonly #now: () => number
  readonly #agents = new Map<string, { readonly makes: Map<string, Seen>; readonly rate: PerSecond }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** @param agent as metrics name it */
  add(agent: string, run: AgentRun): void {
    const known = this.#agents.get(agent)
    if (known === undefined && this.#agents.size >= MAX_AGENTS) return
    const { makes, rate } = known ?? { makes: new Map<string, Seen>(), rate: new PerSecond(MAX_A_SECOND, this.#now) }
    if (known === undefined) this.#agents.set(agent, { makes, rate })
    if (!rate.take()) return
    const { prompt, tools, model } = countedTraits(run).make
    const key = `${prompt}\n${tools}\n${model}`
    const seen = makes.get(key)
    if (seen !== undefined) {
      seen.lastMs = this.#now()
      return
    }
    this.#forget(makes)
    if (makes.size >= MAX_MAKES) return
    const attributes = {
      'gen_ai.agent.name': agent,
      ...(prompt !== undefined && { 'spanscore.agent.prompt': prompt }),
      ...(tools !== undefined && { 'spanscore.agent.tools': tools }),
      ...(model !== undefined && { 'gen_ai.request.model': model }),
    }
    makes.set(key, { observation: { attributes, value: 1 }, lastMs: this.#now() })
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

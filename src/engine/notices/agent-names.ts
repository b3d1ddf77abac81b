import { unicodePattern } from '../../model/unicode-pattern.ts'
import { closestName } from '../../scoring/closest-name.ts'
import { LimitedSet } from '../../spans/limited-set.ts'

/** A mistake in the set-up. A notice and a line of `spanscore doctor` say the same of it. */
export interface Problem {
  /** The subject, such as a judge. The problem is reported once for each subject. */
  readonly subject: string
  readonly text: string
  /** The cure: one sentence. */
  readonly cure: string
}

/** Maximum characters of a name that are shown. */
const LONGEST_NAME = 80

/** How agents get a name. */
const NO_NAME_CURE =
  'Record a name (functionId in the AI SDK, gen_ai.agent.name in spans of your own), or remove agent from the scorer.'

/** A filter without a match is reported after this many runs. */
const RUNS_TO_WAIT_FOR = 100

/** Maximum number of agent names that are kept for comparison. */
const MOST_NAMES = 50

/** A scorer, and the agents that it is for. */
export interface ForAgents {
  readonly id: string
  readonly agents?: Iterable<string>
}

/** The agents of the runs that were looked at. */
export interface SeenAgents {
  /** Runs that were looked at, nested ones included. */
  readonly runs: number
  /** The names of their agents. There may be more than those that are known. */
  readonly agents: ReadonlySet<string>
  /** True if no run was scored; false if one was, or if nobody knows. */
  readonly hasNoScore: boolean
}

/** Compares the agents that scorers are for with those of the runs. */
export class AgentNames {
  readonly #wanted: ReadonlySet<string>
  readonly #names = new LimitedSet<string>(MOST_NAMES)
  /** The agents that scorers are for, and that no run had. */
  readonly #unmatched: Set<string>
  #runs = 0

  constructor(scorers: readonly ForAgents[]) {
    this.#wanted = new Set(scorers.flatMap(({ agents }) => [...(agents ?? [])]))
    this.#unmatched = new Set(this.#wanted)
  }

  /**
   * Must be called with the agent of each settled run, including nested ones.
   *
   * @returns true if enough runs were looked at, and it is time to look for problems
   */
  look(name: string | undefined): boolean {
    this.#runs += 1
    if (this.#unmatched.size === 0) return false
    if (name !== undefined) this.#unmatched.delete(name)
    const isNew = name !== undefined && this.#names.add(name)
    return this.#runs === RUNS_TO_WAIT_FOR || (isNew && this.#runs > RUNS_TO_WAIT_FOR)
  }

  /** Whether a scorer is for an agent that was not seen. */
  get lacksAgents(): boolean {
    return this.#unmatched.size > 0
  }

  get seen(): SeenAgents {
    // A scorer is for an agent that was seen, even if its name is not among those that are kept.
    const matched = [...this.#wanted].filter((name) => !this.#unmatched.has(name))
    // Another run may still be scored.
    return { runs: this.#runs, agents: new Set([...this.#names, ...matched]), hasNoScore: false }
  }
}

/** Scorers whose `agent` none of the runs has, if one has a similar name, or none has a name, or it is known that nothing was scored. */
export function agentProblems(
  { id, agents: named = [] }: ForAgents,
  { runs, agents, hasNoScore }: SeenAgents,
): Problem[] {
  const wanted = [...named]
  if (wanted.length === 0 || wanted.some((name) => agents.has(name))) return []
  if (agents.size === 0) {
    const which = runs === 1 ? 'A run has' : `All ${runs} runs have`
    const text = `${which} an agent without a name, and scorer ${id} is for ${shown(wanted.join(', '))}.`
    return [{ subject: id, text, cure: NO_NAME_CURE }]
  }
  return wanted.flatMap((name) => {
    const meant = closestName(name, agents)
    if (meant === undefined && !hasNoScore) return []
    const seen = meant === undefined ? [...agents].join(', ') : meant
    const text = `No agent named ${shown(name)} was among ${runs} ${runs === 1 ? 'run' : 'runs'}; seen: ${shown(seen)}.`
    const cure = `Scorer ${id} scores none of them: ${meant === undefined ? 'run that agent, or ' : ''}correct its agent.`
    return [{ subject: name, text, cure }]
  })
}

const unseen = unicodePattern('[\\p{Cc}\\p{Cf}]', 'gu')

function shown(name: string): string {
  return name.replaceAll(unseen(), ' ').slice(0, LONGEST_NAME)
}

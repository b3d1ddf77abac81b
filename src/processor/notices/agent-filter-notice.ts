import type { AgentRun } from '../../model/agent-run.ts'
import { closestName } from '../../scoring/closest-name.ts'
import { LimitedSet } from '../../spans/limited-set.ts'
import type { ResolvedScorer } from '../../engine/config/options.ts'
import { isForAgent } from '../../engine/choose-run.ts'
import type { Reporter } from '../../engine/reporter.ts'

/** A filter without a match is reported after this many runs. */
const RUNS_TO_WAIT_FOR = 100

/** Maximum number of agent names that are kept for comparison. */
const MOST_NAMES = 50

/** Maximum characters of a name that are shown. */
const LONGEST_NAME = 80

/** How agents get a name. */
const NO_NAME_CURE =
  'Record a name (functionId in the AI SDK, gen_ai.agent.name in spans of your own), or remove agent from the scorer.'

/** Reports a scorer whose `agent` matches no run, if an agent has a similar name, or no run has a named agent at all. */
export class AgentFilterNotice {
  readonly #reporter: Reporter
  readonly #seen = new LimitedSet<string>(MOST_NAMES)
  #unmatched: readonly ResolvedScorer[]
  #runs = 0

  constructor(scorers: readonly ResolvedScorer[], reporter: Reporter) {
    this.#unmatched = scorers.filter(({ agents }) => agents !== undefined)
    this.#reporter = reporter
  }

  /** Must be called with each settled run, including nested ones. */
  look(run: AgentRun): void {
    if (this.#unmatched.length === 0) return
    this.#runs += 1
    this.#unmatched = this.#unmatched.filter((scorer) => !isForAgent(scorer, run))
    const { name } = run.agent
    const isNew = name !== undefined && this.#seen.add(name)
    if (this.#runs === RUNS_TO_WAIT_FOR || (isNew && this.#runs > RUNS_TO_WAIT_FOR)) {
      this.#unmatched = this.#unmatched.filter((scorer) => !this.#report(scorer))
    }
  }

  /** Must be called at the end. Also reports a filter without a match after fewer runs. */
  conclude(): void {
    this.#unmatched = this.#unmatched.filter((scorer) => !this.#report(scorer))
  }

  #report({ id, agents }: ResolvedScorer): boolean {
    if (this.#runs > 0 && [...this.#seen].length === 0) {
      const message = `${this.#runs === 1 ? 'A run has' : `All ${this.#runs} runs have`} an agent without a name, and scorer ${id} is for ${shown([...(agents ?? [])].join(', '))}.`
      this.#reporter.notify('SPANSCORE_NO_SUCH_AGENT', `${message} ${NO_NAME_CURE}`, { subject: id })
      return true
    }
    for (const name of agents ?? []) {
      const meant = closestName(name, this.#seen)
      if (meant === undefined) continue
      const runs = `No agent named ${shown(name)} was among ${this.#runs} ${this.#runs === 1 ? 'run' : 'runs'}; seen: ${shown(meant)}.`
      const message = `${runs} Scorer ${id} scores none of them: correct its agent.`
      this.#reporter.notify('SPANSCORE_NO_SUCH_AGENT', message, { subject: name })
      return true
    }
    return false
  }
}

function shown(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ').slice(0, LONGEST_NAME)
}

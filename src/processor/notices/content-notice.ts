import type { AgentRun } from '../../model/agent-run.ts'
import type { Need } from '../../scoring/scorer.ts'
import type { ResolvedScorer } from '../../engine/config/options.ts'
import { isForAgent } from '../../engine/choose-run.ts'
import type { Reporter } from '../../engine/reporter.ts'
import { curesOf } from '../../runs/view/cure-of.ts'
import { holdsContent } from '../../runs/view/missing.ts'

/** Maximum number of runs to check. An application records content for all runs or for none, so the first ones show it. */
const RUNS_LOOKED_AT = 20

/** The facts that are missing from a run without content. */
const CONTENT: ReadonlySet<Need> = new Set([
  'input',
  'output',
  'systemInstructions',
  'toolArguments',
  'toolResults',
  'steps',
])

/** Reports, once for each dialect, that its runs lack the content that a scorer needs, and which setting records it. */
export class ContentNotice {
  readonly #scorers: readonly ResolvedScorer[]
  readonly #reporter: Reporter
  readonly #looks = new Map<string, number>()

  constructor(scorers: readonly ResolvedScorer[], reporter: Reporter) {
    this.#scorers = scorers.filter(({ scorer }) => scorer.needs.some((need) => CONTENT.has(need)))
    this.#reporter = reporter
  }

  /** Must be called with each settled run. */
  look(run: AgentRun): void {
    const looks = this.#looks.get(run.dialect) ?? 0
    if (this.#scorers.length === 0 || looks >= RUNS_LOOKED_AT) return
    this.#looks.set(run.dialect, looks + 1)
    if (holdsContent(run)) return
    const ids = this.#scorers.filter((scorer) => isForAgent(scorer, run)).map(({ id }) => id)
    if (ids.length === 0) return
    const cure = curesOf(run.missing)
    this.#reporter.notify(
      'SPANSCORE_NO_CONTENT',
      `A run of ${run.agent.name ?? 'an agent without a name'} (${run.dialect}) holds no messages, arguments or results, ` +
        `which ${listed(ids)} ${ids.length === 1 ? 'needs' : 'need'}. ` +
        (cure === undefined
          ? 'docs/instrumentations.md names the setting of each instrumentation that records them.'
          : `${cure}.`),
      { subject: run.dialect },
    )
  }
}

/** The first of some names, and how many more there are. */
function listed(names: readonly string[]): string {
  const first = names.slice(0, 3).join(', ')
  return names.length > 3 ? `${first} and ${names.length - 3} more` : first
}

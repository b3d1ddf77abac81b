import type { ResolvedScorer } from '../../engine/config/options.ts'
import { AgentNames } from '../../engine/notices/agent-names.ts'
import type { Reporter } from '../../engine/reporter.ts'
import { after } from '../../scoring/after.ts'
import { detached } from '../../scoring/isolation.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import { checks } from './checks.ts'
import type { Check } from './checks.ts'
import { lacksContent, toScorerFacts, toSeenRun } from './setup-facts.ts'
import type { ScorerFacts, SeenRun, SetupFacts } from './setup-facts.ts'

/** Judges are looked at so long after the start, unless a run comes before: the application may set keys while it starts. */
const JUDGES_AFTER_MS = 1000

/** Maximum number of runs of a dialect to check for content. An application records it for all runs or for none. */
const RUNS_LOOKED_AT = 20

/** Gathers facts about a running process, and reports what the checks find in them. */
export class LiveChecks {
  readonly #scorers: readonly ResolvedScorer[]
  readonly #reporter: Reporter
  readonly #exportsSpans: () => boolean
  readonly #agents: AgentNames
  readonly #looks = new Map<string, number>()
  readonly #withoutContent: SeenRun[] = []
  readonly #cancel: () => void
  #facts: readonly ScorerFacts[] | undefined

  /** @param exportsSpans whether any processor exports spans and their scores */
  constructor(scorers: readonly ResolvedScorer[], reporter: Reporter, exportsSpans: () => boolean) {
    this.#scorers = scorers
    this.#reporter = reporter
    this.#exportsSpans = exportsSpans
    this.#agents = new AgentNames(scorers)
    this.#report(checks.node)
    this.#cancel = after(JUDGES_AFTER_MS, () => this.#report(checks.judges))
  }

  /** Must be called after the first run: the application may set environment variables before it. */
  begin(): void {
    this.#report(checks.exports)
    this.#cancel()
    detached(() => setImmediate(() => this.#report(checks.judges)))
  }

  /** Must be called with each settled run, including nested ones. */
  look(run: AgentRun): void {
    this.#lookForContent(run)
    if (this.#agents.look(run.agent.name)) this.#report(checks.agents)
  }

  /** Must be called at the end. Also reports a filter without a match after fewer runs. */
  conclude(): void {
    this.#cancel()
    if (this.#agents.lacksAgents) this.#report(checks.agents)
  }

  #lookForContent(run: AgentRun): void {
    const looks = this.#looks.get(run.dialect) ?? 0
    if (looks >= RUNS_LOOKED_AT) return
    this.#looks.set(run.dialect, looks + 1)
    if (!lacksContent(run)) return
    this.#withoutContent.push(toSeenRun(run))
    this.#report(checks.content)
  }

  #report({ code, look }: Check): void {
    for (const { subject, text, cure } of look(this.#gathered())) {
      this.#reporter.notify(code, `${text} ${cure}`, { subject })
    }
  }

  #gathered(): SetupFacts {
    const scorers = (): readonly ScorerFacts[] => (this.#facts ??= this.#scorers.map(toScorerFacts))
    const exportsSpans = this.#exportsSpans
    return {
      nodeVersion: process.version,
      // Each is only looked up by the check that reads it.
      get scorers() {
        return scorers()
      },
      get exportsSpans() {
        return exportsSpans()
      },
      ...this.#agents.seen,
      withoutContent: this.#withoutContent,
    }
  }
}

import type { AgentRun } from '../../model/agent-run.ts'
import type { Reporter } from './reporter.ts'

/** Content capture is switched on or off for a whole application: its first runs show it, and the others need not be looked at. */
const RUNS_LOOKED_AT = 20

/** Says, once for each dialect, that its runs hold no content, and which setting records it. */
export class ContentNotice {
  readonly #reporter: Reporter
  readonly #looks = new Map<string, number>()

  constructor(reporter: Reporter) {
    this.#reporter = reporter
  }

  /** To be called with each run that is settled. */
  look(run: AgentRun): void {
    const looks = this.#looks.get(run.dialect) ?? 0
    if (looks >= RUNS_LOOKED_AT) return
    this.#looks.set(run.dialect, looks + 1)
    if (run.content !== 'none') return
    const setting = run.missing.find((missing) => missing.switch !== undefined)?.switch
    this.#reporter.warnOnce(
      `content:${run.dialect}`,
      `A run of ${run.agent.name ?? 'an agent without a name'} (${run.dialect}) holds no messages, arguments or results: scorers that need them are skipped. ` +
        (setting === undefined
          ? 'docs/instrumentations.md says, for each instrumentation, what records them.'
          : `They are recorded with ${setting}.`),
    )
  }
}

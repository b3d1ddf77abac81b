import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { Evaluation } from '../../../src/model/score.ts'
import { withoutPause } from '../../../src/scoring/background.ts'
import { commonTraits, LEAST_FAILING } from '../../../src/traits/common-traits.ts'
import { TraitTable } from '../../../src/traits/trait-table.ts'
import type { TraitRun } from '../../../src/traits/trait-table.ts'
import { traitsOf } from '../../../src/traits/traits-of.ts'
import { sentenceOf } from '../common/common-report.ts'

/** Maximum number of runs of which traits are kept: later runs are not compared. */
const MAX_KEPT_RUNS = 20_000
const MAX_SENTENCES = 2

/** What the failing runs of an agent and scorer have in common, as sentences for the reports of `spanscore score`. */
export class FailingInCommon {
  readonly #table = new TraitTable()
  readonly #runs = new Map<string, TraitRun[]>()
  #left = MAX_KEPT_RUNS

  /**
   * @param agent the row of the report
   * @param turn of its conversation
   * @param newFailures with a baseline, the ids of the scorers that this run passed before: of its other failures nothing is said
   */
  add(
    agent: string,
    run: AgentRun,
    evaluations: readonly Evaluation[],
    turn: number | undefined,
    newFailures: ReadonlySet<string> | undefined,
  ): void {
    const labelled = evaluations.flatMap(({ scorer, score }) => (score.status === 'scored' ? [{ scorer, score }] : []))
    if (this.#left === 0 || labelled.length === 0) return
    this.#left -= 1
    const failing = labelled.filter(({ score }) => score.label === 'fail').map(({ scorer }) => scorer.id)
    const attacked = labelled.filter(({ score }) => (score.found ?? 0) > 0).map(({ scorer }) => scorer.id)
    for (const { scorer, score } of labelled) {
      const fails = score.label === 'fail'
      if (fails && newFailures?.has(scorer.id) === false) continue
      const runs = this.#runs.get(keyOf(agent, scorer.id)) ?? []
      this.#runs.set(keyOf(agent, scorer.id), runs)
      const others = failing.filter((id) => id !== scorer.id)
      const traits = this.#table.add(traitsOf(run, { turn, failing: others, attacked, scorer: scorer.id }))
      runs.push({ traceId: run.traceId, fails, weight: 1, traits })
    }
  }

  /** At most two sentences; none if nothing was found. */
  sentences(agent: string, scorerId: string): readonly string[] {
    const runs = this.#runs.get(keyOf(agent, scorerId)) ?? []
    if (runs.filter(({ fails }) => fails).length < LEAST_FAILING) return []
    const { common } = withoutPause(commonTraits(runs, [], this.#table))
    return common.slice(0, MAX_SENTENCES).map(sentenceOf)
  }
}

function keyOf(agent: string, scorerId: string): string {
  return JSON.stringify([agent, scorerId])
}

import type { AgentRun } from '../../../src/model/agent-run.ts'
import type { StoredRun } from '../../../src/otlp/runs-by-start.ts'
import { storedWeight } from '../../../src/otlp/stored-score.ts'
import { traitsOf } from '../../../src/traits/traits-of.ts'
import type { TraitRun, TraitTable } from '../../../src/traits/trait-table.ts'
import { UsageError } from '../usage-error.ts'
import { TraitFilter } from './trait-filter.ts'
import { TurnCounter } from './turn-counter.ts'

/** Maximum number of runs that are compared. Those that come later by start time are left out, and counted. */
export const MAX_COMPARED_RUNS = 200_000

/** How many different names or labels are remembered for messages. */
const MAX_SEEN = 20

/** A run with a label, and its start. */
interface TimedRun extends TraitRun {
  /** Milliseconds since the epoch. */
  readonly startTimeMs: number
}

/** The runs that have a scorer's label, with their traits. */
export class ScoredRuns {
  readonly #scorer: string
  readonly #table: TraitTable
  readonly #filter: TraitFilter
  readonly #turns = new TurnCounter()
  readonly #otherScorers = new Set<string>()
  readonly #otherLabels = new Set<string>()
  readonly runs: TimedRun[] = []
  /** Runs that match the filter and have no label of the scorer. */
  unscored = 0
  /** Runs that were left out because there are too many. */
  leftOut = 0

  constructor(scorer: string, table: TraitTable, filter: TraitFilter) {
    this.#scorer = scorer
    this.#table = table
    this.#filter = filter
  }

  /** Adds a run and its nested runs. Call it in the order of their starts, because turns of conversations are counted. */
  add(stored: StoredRun): void {
    const turn = this.#turns.next(stored.run)
    for (const run of withNested(stored.run)) this.#addOne(run, stored, turn)
  }

  /**
   * Call it after all runs.
   *
   * @throws UsageError if no run has a label of the scorer
   */
  check(): void {
    this.#filter.check()
    if (this.runs.length > 0) return
    const labels = [...this.#otherLabels]
    if (labels.length > 0) {
      throw new UsageError(
        `--scorer: expected labels pass and fail of ${this.#scorer}, got ${labels.map((label) => JSON.stringify(label)).join(', ')}`,
      )
    }
    const others = [...this.#otherScorers]
    throw new UsageError(
      others.length === 0
        ? 'no run in the files has a score; score them first: spanscore score FILES --out scores.jsonl, and pass scores.jsonl beside the files'
        : `--scorer: no run has a score of ${this.#scorer}; the files have scores of ${others.join(', ')}`,
    )
  }

  #addOne(run: AgentRun, stored: StoredRun, turn: number | undefined): void {
    const scores = [...stored.scoresOf(run), ...(run === stored.run ? stored.conversationScoresOf(run) : [])]
    const score = scores.find(({ scorerId, label }) => scorerId === this.#scorer && label !== undefined)
    const failing = scores.filter(({ scorerId, label }) => label === 'fail' && scorerId !== this.#scorer)
    const attacked = scores.filter(({ found = 0 }) => found > 0)
    const traits = traitsOf(run, {
      turn,
      failing: failing.map(({ scorerId }) => scorerId),
      attacked: attacked.map(({ scorerId }) => scorerId),
      scorer: this.#scorer,
    })
    if (!this.#filter.matches(run, traits)) return
    if (score?.label !== 'pass' && score?.label !== 'fail') {
      this.unscored += 1
      if (score?.label !== undefined) remember(this.#otherLabels, score.label)
      for (const { scorerId, label } of scores) if (label !== undefined) remember(this.#otherScorers, scorerId)
      return
    }
    if (this.runs.length === MAX_COMPARED_RUNS) {
      this.leftOut += 1
      return
    }
    this.runs.push({
      traceId: run.traceId,
      fails: score.label === 'fail',
      weight: storedWeight(score),
      traits: this.#table.add(traits),
      startTimeMs: run.startTimeMs,
    })
  }
}

function remember(seen: Set<string>, name: string): void {
  if (seen.size < MAX_SEEN) seen.add(name)
}

function* withNested(run: AgentRun): Generator<AgentRun> {
  yield run
  for (const child of run.children) yield* withNested(child)
}

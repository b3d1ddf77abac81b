import type { SpanContext } from '@opentelemetry/api'

import type { Evaluation, Skipped } from '../model/score.ts'
import { Budget } from '../sampling/budget.ts'
import type { BudgetHistory } from '../sampling/budget.ts'
import { SamplePoint } from '../sampling/sample-point.ts'
import { Ledger } from '../scoring/ledger.ts'
import type { LedgerSnapshot } from '../scoring/ledger.ts'
import { resolveOptions } from './config/options.ts'
import type { ResolvedOptions, ResolvedScorer } from './config/options.ts'
import type { ScoringOptions } from './config/scoring-options.ts'
import { SpanOutlet } from './deliver/span-outlet.ts'
import { HandedQuestion } from './run/handed-question.ts'
import { toScorable } from './run/logged-run.ts'
import { Reporter } from './run/reporter.ts'
import { ScoredRun } from './run/scored-run.ts'
import type { HandedRun } from './run/handed-run.ts'
import { Scheduler } from './scheduler.ts'

const monotonicMs = (): number => performance.now()

/** Asks judges about runs that another process has put together and sampled. */
export class HandedRuns {
  readonly options: ResolvedOptions
  readonly #judges: ReadonlyMap<string, ResolvedScorer>
  readonly #reporter = new Reporter()
  readonly #ledger: Ledger
  readonly #scheduler: Scheduler

  /** @throws TypeError `<path>: expected …, got …`, also if a judge cannot be asked */
  constructor(options: ScoringOptions) {
    // The process that put the run together has already redacted it.
    const { redact: _redact, ...resolved } = resolveOptions({ ...options, strict: false }, true)
    this.options = resolved
    this.#judges = new Map(
      this.options.scorers.flatMap((each) => (each.scorer.kind === 'judge' ? [[each.id, each]] : [])),
    )
    for (const { id, scorer } of this.#judges.values()) {
      const why = scorer.judge?.unavailable()
      if (why !== undefined) throw new TypeError(`${id}: expected a judge that can be asked, got none. ${why}`)
    }
    this.#ledger = new Ledger(this.#judges.keys())
    this.#scheduler = new Scheduler(monotonicMs, (error) => this.#reporter.threw('A deadline', error))
  }

  /** The configured judges. */
  get scorers(): readonly Evaluation['scorer'][] {
    return [...this.#judges.values()].map(({ about }) => about)
  }

  /** Whether a judge with this id is configured, in this version. */
  find({ id, version }: Pick<Evaluation['scorer'], 'id' | 'version'>): 'known' | 'unknown-scorer' | 'unknown-version' {
    const known = this.#judges.get(id)
    if (known === undefined) return 'unknown-scorer'
    return known.about.version === version ? 'known' : 'unknown-version'
  }

  /**
   * Creates a budget for a share of the runs.
   *
   * @param share share of the configured limits: above 0, at most 1
   * @param now milliseconds since the epoch
   * @param history earlier spending, here or in another process
   */
  createBudget(share: number, now: () => number, history: BudgetHistory | undefined): Budget {
    const { budget } = this.options
    return new Budget({ ...budget, share: budget.share * share }, now, history)
  }

  /** A run and the judge to ask about it, which `find` must know. */
  question(handed: HandedRun, target: SpanContext): HandedQuestion {
    const { options } = this
    const scorer = this.#judges.get(handed.scorer.id)
    if (scorer === undefined) throw new Error(`Expected the id of a configured judge, got ${handed.scorer.id}.`)
    return new HandedQuestion({
      ...handed,
      scored: this.#scoredRun(handed, target),
      scorer,
      options,
      reporter: this.#reporter,
      scheduler: this.#scheduler,
    })
  }

  /** The evaluation of a run whose judge is not asked, with the reason. */
  unasked(handed: HandedRun, target: SpanContext, score: Skipped): Evaluation {
    const { run, rate, scorer } = handed
    return this.#scoredRun(handed, target).unaskedEvaluation({ about: scorer }, score, run, rate)
  }

  /** Counts the outcome of a question. */
  settled({ scorer, score }: Evaluation): void {
    this.#ledger.offered(scorer.id)
    this.#ledger.settled(scorer.id, score)
  }

  /** The outcome of all questions. Runs are counted where they are put together. */
  ledger(): LedgerSnapshot {
    return this.#ledger.snapshot(0)
  }

  stop(): void {
    this.#scheduler.stop()
  }

  #scoredRun({ run, point, upstreamProbability }: HandedRun, target: SpanContext): ScoredRun {
    return new ScoredRun({
      scorable: toScorable({ run, target, nested: false, wanted: true }),
      target,
      point: SamplePoint.at(point),
      outlet: new SpanOutlet(false, 'gone'),
      upstream: upstreamProbability,
    })
  }
}

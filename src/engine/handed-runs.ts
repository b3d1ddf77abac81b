import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, Skipped } from '../model/score.ts'
import { Budget } from '../sampling/budget.ts'
import type { BudgetHistory } from '../sampling/budget.ts'
import { SamplePoint } from '../sampling/sample-point.ts'
import { Ledger } from '../scoring/ledger.ts'
import type { LedgerSnapshot } from '../scoring/ledger.ts'
import { admitJudge } from './admission.ts'
import type { Admitted } from './admission.ts'
import { resolveOptions } from './config/options.ts'
import type { ResolvedOptions, ResolvedScorer } from './config/options.ts'
import type { ScoringOptions } from './config/scoring-options.ts'
import type { HandedRun } from './place.ts'
import { SHUT_DOWN } from './rejections.ts'
import { Reporter } from './reporter.ts'
import { RunScores } from './run-scores.ts'
import { toScorable } from './scorable-run.ts'
import { ScorerCall, settleCost } from './scorer-call.ts'

/** Asks judges about runs that another process has put together and sampled. */
export class HandedRuns {
  readonly options: ResolvedOptions
  readonly #judges: ReadonlyMap<string, ResolvedScorer>
  readonly #reporter = new Reporter()
  readonly #ledger: Ledger

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
    const scorer = this.#judges.get(handed.scorer.id)
    if (scorer === undefined) throw new Error(`Expected the id of a configured judge, got ${handed.scorer.id}.`)
    return new HandedQuestion({
      scores: toScores(handed, target),
      scorer,
      run: handed.run,
      rate: handed.rate,
      options: this.options,
      reporter: this.#reporter,
    })
  }

  /** The evaluation of a run whose judge is not asked, with the reason. */
  unasked(handed: HandedRun, target: SpanContext, score: Skipped): Evaluation {
    return toScores(handed, target).unasked(handed.scorer, score, handed.run, handed.rate)
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
}

/** A judge's answer. */
export interface HandedAnswer {
  /** The score, or the reason why there is none. */
  readonly evaluation: Evaluation
  /** Whether the provider is overloaded or known to be down. Nothing was paid, and the judge may be asked later. */
  readonly isLeft: boolean
}

interface HandedQuestionParts {
  readonly scores: RunScores
  readonly scorer: ResolvedScorer
  readonly run: AgentRun
  /** The rate at which the run was kept. */
  readonly rate: number
  readonly options: ResolvedOptions
  readonly reporter: Reporter
}

/** One run and the judge to ask about it. */
export class HandedQuestion {
  readonly #parts: HandedQuestionParts
  #admitted: Admitted | undefined
  #call: ScorerCall | undefined

  constructor(parts: HandedQuestionParts) {
    this.#parts = parts
  }

  /**
   * Reserves the cost of asking. May be called again after an answer with `isLeft`; the run keeps the probability of the first call.
   *
   * @returns the evaluation if the budget refuses; `undefined` if the judge may be asked
   */
  admit(budget: Budget): Evaluation | undefined {
    const { scores, scorer, run, rate, options, reporter } = this.#parts
    const { judge } = scorer.scorer
    if (judge === undefined) throw new Error(`Expected ${scorer.id} to be a judge, got a scorer by code.`)
    const admission = admitJudge({ options, reporter, budget }, scores, scorer, judge, run, rate)
    if (admission.status === 'rejected') {
      return scores.unasked(scorer.about, admission.score, run, admission.probability)
    }
    this.#admitted = admission
    return undefined
  }

  /** Asks once per admission. Never rejects. */
  async ask(): Promise<HandedAnswer> {
    const { scores, scorer, run, options, reporter } = this.#parts
    if (this.#admitted === undefined) throw new Error('Expected a question that was admitted.')
    const { probability, reservation } = this.#admitted
    this.#call = new ScorerCall({ scorer, probability, upstream: scores.upstream, options, reporter })
    const evaluation = await this.#call.ask(run)
    settleCost(reservation, evaluation)
    return { evaluation, isLeft: isLeft(evaluation) }
  }

  /** Another process has taken over the question. Aborts the work. */
  abandon(): void {
    this.#call?.abort(SHUT_DOWN)
  }
}

function isLeft({ score, judge }: Evaluation): boolean {
  if (score.status === 'skipped') return score.reason === 'circuit-open' && judge === undefined
  return score.status === 'failed' && score.code === 'judge-quota'
}

function toScores({ run, point, upstreamProbability }: HandedRun, target: SpanContext): RunScores {
  const place = { target, isHeld: false, claim: () => true, write: ignore, allIn: ignore }
  return new RunScores({
    run: toScorable(run, false, true),
    place,
    point: SamplePoint.at(point),
    upstream: upstreamProbability,
  })
}

function ignore(): void {}

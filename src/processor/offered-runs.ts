import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, Skipped } from '../model/score.ts'
import { Budget } from '../sampling/budget.ts'
import { withoutPause } from '../scoring/in-slices.ts'
import { Ledger } from '../scoring/ledger.ts'
import type { LedgerSnapshot } from '../scoring/ledger.ts'
import { resolveOptions } from './config/options.ts'
import type { ResolvedOptions } from './config/options.ts'
import type { ScoringOptions } from './config/scoring-options.ts'
import { toScorable } from './run/logged-run.ts'
import { Reporter } from './run/reporter.ts'
import { RunScoring } from './run/run-scoring.ts'
import type { ScorableRun } from './run/scorable-run.ts'
import type { ScoredRun } from './run/scored-run.ts'
import { ScoringJobs } from './run/scoring-jobs.ts'
import type { HandedRun } from './run/handed-run.ts'
import { Scheduler } from './scheduler.ts'

/** A run read from a log. */
export interface OfferedRun {
  /** The run, including nested runs. */
  readonly run: AgentRun
  /** The span for its scores. */
  readonly target: SpanContext
  /** Its recognised spans: how many there are, and a digest of their ids. */
  readonly spans: { readonly count: number; readonly digest: string }
  /** False if an earlier revision was counted: its scores are written but not counted again. */
  readonly isCounted: boolean
}

/** Writes one evaluation. `run` is absent if the run was left out before it was read. */
export type WriteEvaluation = (
  offered: OfferedRun,
  evaluation: Evaluation,
  run: AgentRun | undefined,
  counted: boolean,
) => void

const now = (): number => performance.now()

/**
 * Maximum milliseconds for one call of an inline scorer. No application request waits for it, and queueing a score costs more than a quick
 * scorer does. The limit is generous so that a scorer whose first call was slow, because its code was new, is not deferred for good.
 */
const MAX_INLINE_MS = 50

/** What scoring of offered runs needs. */
export interface OfferedRunsParts {
  /** The options of the service. */
  readonly options: ScoringOptions
  /** Called with every evaluation. */
  readonly write: WriteEvaluation
  /** Called once for each scorer if no scorer's fixed rate keeps the run. */
  readonly onLeftOut: (offered: OfferedRun, scorer: Evaluation['scorer']) => void
  /**
   * Set if another process asks the judges. Called once for each judge whose rate keeps the run. Resolves when the run is stored there, or
   * to the reason why it cannot be; must not reject. Keys and packages of judges are then not needed here.
   */
  readonly handOver?: HandOver | undefined
}

/** Hands a run to the process that asks the judge. */
export type HandOver = (offered: OfferedRun, handed: HandedRun) => Promise<Skipped | undefined>

/** Scores runs that a service reads from a log, by the same rules as a processor. */
export class OfferedRuns {
  readonly options: ResolvedOptions
  readonly #parts: OfferedRunsParts
  readonly #ledger: Ledger
  readonly #scheduler: Scheduler
  readonly #jobs: ScoringJobs
  readonly #scoring: RunScoring
  /** Runs with pending scores. */
  readonly #offered = new Map<ScorableRun, OfferedRun>()

  /** @throws TypeError `<path>: expected …, got …` */
  constructor(parts: OfferedRunsParts) {
    this.#parts = parts
    const { handOver } = parts
    const options = resolveOptions(handOver === undefined ? parts.options : { ...parts.options, strict: false }, true)
    this.options = options
    const reporter = new Reporter()
    this.#ledger = new Ledger(options.scorers.map(({ id }) => id))
    const writer = {
      write: (scored: ScoredRun, evaluation: Evaluation, run: AgentRun | undefined, counted: boolean) =>
        this.#write(scored, evaluation, run, counted),
    }
    const budget = new Budget(options.budget, now)
    this.#scheduler = new Scheduler(now, (error) => reporter.threw('A deadline', error))
    this.#jobs = new ScoringJobs({
      options,
      budget,
      writer,
      reporter,
      scheduler: this.#scheduler,
      now,
      ...(handOver !== undefined && { handOver: (scored, handed) => this.#handOver(scored, handed, handOver) }),
    })
    this.#scoring = new RunScoring({
      options,
      budget,
      ledger: this.#ledger,
      metrics: { countLeftOut: () => undefined },
      writer,
      jobs: this.#jobs,
      reporter,
      maxInlineMs: MAX_INLINE_MS,
    })
  }

  /** Scores in the queue. */
  get queued(): number {
    return this.#jobs.queued
  }

  /** Whether callers should hold back further runs, if they can: code scores would soon be refused because their queue is full. */
  get isBusy(): boolean {
    return this.#jobs.isBusy
  }

  /** Passes a run and its nested runs to the scorers. Resolves when each has scored, skipped or failed. */
  async offer(offered: OfferedRun): Promise<void> {
    const all = [offered]
    if (this.#scoring.countsNested)
      all.push(...nestedOf(offered.run).map((run) => ({ ...offered, run, target: targetOf(offered, run) })))
    await Promise.all(all.map((each, index) => this.#offerOne(each, index > 0)))
    this.#ledger.runClosed()
  }

  ledger(): LedgerSnapshot {
    return this.#ledger.snapshot(0)
  }

  /** Drops pending scores. */
  stop(): void {
    this.#jobs.beginShutdown()
    withoutPause(this.#jobs.endShutdown())
    this.#scheduler.stop()
  }

  #offerOne(offered: OfferedRun, nested: boolean): Promise<void> {
    const wanted = this.#scoring.isWanted(offered.run.traceId)
    const scorable = toScorable({ ...offered, nested, wanted })
    this.#offered.set(scorable, offered)
    return new Promise<void>((resolve) => {
      const scored = this.#scoring.runEnded(scorable, 'gone')
      if (scored === undefined || !scored.isAwaited) {
        if (!scorable.wanted) for (const { about } of this.options.scorers) this.#parts.onLeftOut(offered, about)
        resolve()
        return
      }
      scored.whenAllIn(resolve)
      this.#scoring.runSettled(scorable, true)
    }).finally(() => this.#offered.delete(scorable))
  }

  async #handOver(scored: ScoredRun, handed: HandedRun, handOver: HandOver): Promise<Skipped | undefined> {
    const offered = this.#offered.get(scored.scorable)
    if (offered === undefined) return undefined
    const unscored = await handOver(offered, handed)
    // The process that asks the judge counts the outcome.
    if (unscored === undefined) this.#ledger.handedOver(handed.scorer.id)
    return unscored
  }

  #write(scored: ScoredRun, evaluation: Evaluation, run: AgentRun | undefined, counted: boolean): void {
    const offered = this.#offered.get(scored.scorable)
    if (offered === undefined) return
    this.#ledger.settled(evaluation.scorer.id, evaluation.score)
    this.#parts.write(offered, evaluation, run, counted && offered.isCounted)
  }
}

function nestedOf(run: AgentRun): readonly AgentRun[] {
  return run.children.flatMap((child) => [child, ...nestedOf(child)])
}

function targetOf({ target }: OfferedRun, { traceId, spanId }: AgentRun): SpanContext {
  return { ...target, traceId, spanId }
}

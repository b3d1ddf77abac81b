import type { AgentRun } from '../../model/agent-run.ts'
import { isDefaultBudget } from '../../sampling/budget.ts'
import type { Budget, Cost, Reservation } from '../../sampling/budget.ts'
import { contentFree } from '../../model/explanation.ts'
import { detached } from '../../scoring/isolation.ts'
import { ScoringQueue } from '../../scoring/queue.ts'
import type { Evaluation, Score, Skipped } from '../../model/score.ts'
import { readEstimate } from '../../scoring/read-verdict.ts'
import { runForeignNow } from '../../scoring/run-foreign.ts'
import { show } from '../../scoring/format-value.ts'
import { skipped } from '../../scoring/unscored.ts'
import { decideByRun, filtered, isForAgent, tooHeavy } from './admission.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import { PendingScores } from '../deliver/pending-scores.ts'
import type { Reporter } from './reporter.ts'
import type { ScoreWriter } from '../deliver/score-writer.ts'
import type { ScoredRun } from './scored-run.ts'
import { DROPPED, evaluationOf, ScoringJob } from './scoring-job.ts'
import type { Intake } from './scoring-job.ts'

/** A score that has waited this long is about a run that nobody looks at any more. */
const MAX_AGE_MS = 300_000

/** Milliseconds that admitting runs may take of one turn of the event loop. */
const ADMISSION_SLICE_MS = 5

/** What jobs are done with. */
export interface ScoringJobsParts {
  readonly options: ResolvedOptions
  readonly budget: Budget
  readonly writer: Pick<ScoreWriter, 'write'>
  readonly reporter: Reporter
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/**
 * Scores that are not given while a span is ending: judges', and those of code that is slow, asynchronous, or has much to
 * read. They run in a clean async context, untraced, within time limits and budgets, and each ends with one result.
 */
export class ScoringJobs {
  readonly #parts: ScoringJobsParts
  /** Runs that are settled, and have not been held against filters, samples and budgets. */
  readonly #intake: Intake[] = []
  readonly #judges: ScoringQueue
  readonly #code: ScoringQueue
  readonly #unfinished = new Set<ScoringJob>()
  /** Of scores that were being worked on when they were taken over: what gives each of them up. */
  readonly #adopted = new Set<() => void>()
  /** The lowest rate that each scorer's `sample` function has given: what is kept more often is rare, and goes first. */
  readonly #lowestRates = new Map<string, number>()
  readonly #pending = new PendingScores()
  #contentBytes = 0
  #isAdmitting = false

  constructor(parts: ScoringJobsParts) {
    this.#parts = parts
    const { concurrency, queueSize } = parts.options
    const bounds = { concurrency, capacity: queueSize, maxAgeMs: MAX_AGE_MS, now: parts.now }
    this.#judges = new ScoringQueue(bounds)
    this.#code = new ScoringQueue(bounds)
  }

  /** Scores that wait for their turn. */
  get queued(): number {
    return this.#intake.length + this.#judges.size + this.#code.size
  }

  /** Announces a score that is going to be asked for, so that the span can be held, and a flush waits for it. */
  expect(scored: ScoredRun): void {
    scored.awaited += 1
    scored.generation = this.#pending.begin(scored.generation)
  }

  /** Puts a score in line that was announced before. */
  add(scored: ScoredRun, scorer: ResolvedScorer, counted = true): void {
    const { concurrency, maxContentBytes, queueSize } = this.#parts.options
    // What can be worked on at once need not wait: the queue has the last word on it.
    if (this.#intake.length >= queueSize + concurrency || this.#contentBytes > maxContentBytes) {
      this.#refuse(scored, scorer, counted)
      return
    }
    this.#intake.push({ scored, scorer, counted })
    if (this.#isAdmitting) return
    this.#isAdmitting = true
    detached(() => setImmediate(() => this.#admitSome()))
  }

  /** Takes over a score that is being worked on already. */
  adopt(scored: ScoredRun, scorer: ResolvedScorer, run: AgentRun, evaluation: Promise<Evaluation>): void {
    this.expect(scored)
    const conclude = (result: Evaluation): void => {
      if (this.#adopted.delete(abandon)) this.#conclude(scored, result, run, true)
    }
    const abandon = (): void => conclude(evaluationOf(scored, scorer, DROPPED.shutdown, run))
    this.#adopted.add(abandon)
    void evaluation.then(conclude)
  }

  /** Resolves when every score that is announced by now is in. */
  settled(): Promise<void> {
    return this.#pending.settled()
  }

  /** Gives up what is not awaited by a held span, and scores at once what code can. Called synchronously by `shutdown`. */
  beginShutdown(): void {
    for (const intake of this.#intake.splice(0)) this.#admit(intake)
    for (const job of this.#unfinished) {
      // Code that has not begun is done now: later its score would find loggers and meters shut down.
      if (job.parts.scorer.scorer.kind === 'code') job.startNow()
      else if (job.parts.scored.held?.isHeld !== true) job.abandon()
    }
  }

  /** Gives up what is left. */
  endShutdown(): void {
    for (const abandon of this.#adopted) abandon()
    for (const job of this.#unfinished) job.abandon()
  }

  #admitSome(): void {
    const endMs = this.#parts.now() + ADMISSION_SLICE_MS
    do {
      const next = this.#intake.shift()
      if (next) this.#admit(next)
    } while (this.#intake.length > 0 && this.#parts.now() < endMs)
    this.#isAdmitting = this.#intake.length > 0
    if (this.#isAdmitting) setImmediate(() => this.#admitSome())
  }

  /** There is no room even to wait. What can be looked at while a span is ending is weighed before it is dropped. */
  #refuse(scored: ScoredRun, scorer: ResolvedScorer, counted: boolean): void {
    const { options } = this.#parts
    if (scored.live.effortBytes <= options.maxSyncBytes) {
      this.#admit({ scored, scorer, counted }, true)
      return
    }
    const probability = typeof scorer.sample === 'number' ? scorer.sample : undefined
    const dropped = evaluationOf(scored, scorer, DROPPED['queue-full'], undefined, probability)
    this.#conclude(scored, dropped, undefined, counted)
  }

  /** @param isFull Whether a run that is chosen has nowhere to go. */
  #admit({ scored, scorer, counted }: Intake, isFull = false): void {
    const run = this.#parts.reporter.guard('Putting a run together', () => scored.live.current())
    const give = (score: Score, probability?: number) =>
      this.#conclude(scored, evaluationOf(scored, scorer, score, run, probability), run, counted)
    if (run === undefined) {
      give(skipped('incomplete', contentFree('The spans that were kept do not make a run; see maxSpansPerRun.')))
      return
    }
    const decision = isForAgent(scorer, run) ? decideByRun(scorer, run, scored.place) : filtered('agent')
    if (decision.status !== 'chosen') {
      give(decision)
      return
    }
    const admission = this.#admitJudge(scored, scorer, run, decision.rate)
    if (admission.skipped !== undefined) {
      give(admission.skipped, admission.probability)
      return
    }
    if (isFull) {
      admission.reservation?.settle(NOTHING)
      give(DROPPED['queue-full'], admission.probability)
      return
    }
    const bytes = scored.live.contentBytes
    this.#contentBytes += bytes
    const job = new ScoringJob({
      scored,
      scorer,
      counted,
      run,
      probability: admission.probability,
      reservation: admission.reservation,
      priority: this.#priority(scorer, decision.rate),
      options: this.#parts.options,
      reporter: this.#parts.reporter,
      onFinished: (finished, evaluation) => {
        this.#unfinished.delete(finished)
        this.#contentBytes -= bytes
        this.#conclude(scored, evaluation, run, counted)
      },
    })
    this.#unfinished.add(job)
    const queue = scorer.scorer.kind === 'judge' ? this.#judges : this.#code
    queue.add(job)
  }

  /** Judges must be there, and within budget: reserved before it is spent. */
  #admitJudge(scored: ScoredRun, { scorer, id }: ResolvedScorer, run: AgentRun, rate: number): Admitted {
    const { judge } = scorer
    if (judge === undefined) return { probability: rate, skipped: tooHeavy(rate, scored.upstream) }
    const { budget, reporter } = this.#parts
    const available = runForeignNow(() => judge.unavailable())
    if (!available.ok) reporter.threw(`${id}: judge.unavailable`, available.error)
    else if (available.value !== undefined) {
      const unavailable: unknown = available.value
      const why = contentFree(typeof unavailable === 'string' ? unavailable : show(unavailable))
      return { probability: rate, skipped: skipped('judge-unavailable', why) }
    }
    scored.budgetFactor ??= budget.factor()
    const estimated = runForeignNow(() => judge.estimate(run))
    if (!estimated.ok) reporter.threw(`${id}: judge.estimate`, estimated.error)
    const estimate =
      reporter.guard(`${id}: judge.estimate`, () => readEstimate(estimated.ok ? estimated.value : undefined)) ??
      readEstimate(undefined)
    const admission = budget.admit({ place: scored.place.value, rate, factor: scored.budgetFactor, estimate })
    const probability = rate * scored.budgetFactor
    if (!admission.admitted) {
      if (isDefaultBudget(this.#parts.options.budget)) {
        const cure = 'Set budget: { callsPerMinute, tokensPerHour, usdPerDay }, or lower the sample of judges.'
        reporter.notify(
          'SPANSCORE_BUDGET',
          `Judges would take more than the default budget. ${admission.message} ${cure}`,
        )
      }
      return { probability, skipped: skipped(admission.reason, contentFree(admission.message)) }
    }
    const { reservation } = admission
    const heavy = tooHeavy(probability, scored.upstream)
    if (heavy !== undefined) reservation.settle(NOTHING)
    return { probability, reservation, skipped: heavy }
  }

  /** Runs of one rate wait in one lane, whatever became of them: a full queue must not choose by outcome. */
  #priority({ id, sample }: ResolvedScorer, rate: number): 0 | 1 {
    if (typeof sample === 'number') return 0
    const lowest = Math.min(rate, this.#lowestRates.get(id) ?? 1)
    this.#lowestRates.set(id, lowest)
    return rate > lowest ? 1 : 0
  }

  #conclude(scored: ScoredRun, evaluation: Evaluation, run: AgentRun | undefined, counted: boolean): void {
    const { reporter, writer } = this.#parts
    const told = run ?? reporter.guard('Putting a run together', () => scored.live.current())
    writer.write(scored, evaluation, told, counted)
    scored.awaited -= 1
    reporter.guard('Handing on a held span', () => scored.held?.scoreIsIn())
    if (scored.generation !== undefined) this.#pending.end(scored.generation)
    if (scored.awaited === 0) scored.onAllIn?.()
  }
}

/** What a score took that was not asked for after all. */
const NOTHING: Cost = { calls: 0, tokens: 0, costUsd: 0 }

/** Whether a run that was chosen at this probability is scored, or why not. */
interface Admitted {
  readonly probability: number
  readonly reservation?: Reservation
  readonly skipped: Skipped | undefined
}

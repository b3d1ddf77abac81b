import type { AgentRun } from '../../model/agent-run.ts'
import type { Evaluation, Failed, Skipped } from '../../model/score.ts'
import type { Budget } from '../../sampling/budget.ts'
import { detached } from '../../scoring/isolation.ts'
import { inNextTurn } from '../../scoring/host-timers.ts'
import { eachInSteps } from '../../scoring/in-slices.ts'
import { ScoringQueue } from '../../scoring/queue.ts'
import type { ResolvedOptions, ResolvedScorer } from '../config/options.ts'
import { PendingRuns } from '../deliver/pending-runs.ts'
import type { ScoreWriter } from '../deliver/score-writer.ts'
import type { Scheduler } from '../scheduler.ts'
import { admit, isSmall, isTooLarge } from './admission.ts'
import type { Admitted, Rejected } from './admission.ts'
import type { HandedRun } from './handed-run.ts'
import { redactFailed } from './redacted-by.ts'
import { NO_RUN, SHUT_DOWN } from './rejections.ts'
import type { Reporter } from './reporter.ts'
import { ScoringJob } from './scoring-job.ts'
import type { ScoredRun, ScoringTask } from './scored-run.ts'

/** Scores are dropped after waiting this long in the queue. */
const MAX_AGE_MS = 300_000

/** Maximum milliseconds of one turn of the event loop for admitting runs. */
const ADMISSION_SLICE_MS = 5

/** What jobs need. */
export interface ScoringJobsParts {
  readonly options: ResolvedOptions
  readonly budget: Budget
  readonly writer: Pick<ScoreWriter, 'write'>
  readonly reporter: Reporter
  readonly scheduler: Scheduler
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  /**
   * Set if another process asks the judges. Called with the runs that their rates keep. Resolves when the run is stored there, or to the
   * reason why it cannot be; must not reject.
   */
  readonly handOver?: (scored: ScoredRun, handed: HandedRun) => Promise<Skipped | undefined>
}

/**
 * Scores that are not given while a span is ending: judges, and code that is slow, asynchronous, or has much to read. They run in a clean
 * async context, untraced, within time limits and budgets. Each ends with one result.
 */
export class ScoringJobs {
  readonly #parts: ScoringJobsParts
  /** Tasks that wait for admission. */
  readonly #intake: ScoringTask[] = []
  readonly #judges: ScoringQueue
  readonly #code: ScoringQueue
  readonly #jobs = new Set<ScoringJob>()
  /** The lowest rate that each scorer's `sample` function has returned. Runs kept at a higher rate are rare, and take precedence. */
  readonly #lowestRates = new Map<string, number>()
  readonly #pending = new PendingRuns<ScoredRun>()
  #contentBytes = 0
  #isAdmitting = false
  #isStopping = false
  #isStopped = false

  constructor(parts: ScoringJobsParts) {
    this.#parts = parts
    const { concurrency, queueSize } = parts.options
    const bounds = { concurrency, capacity: queueSize, maxAgeMs: MAX_AGE_MS, now: parts.now }
    this.#judges = new ScoringQueue(bounds)
    this.#code = new ScoringQueue(bounds)
    parts.scheduler.watch(this.#judges)
    parts.scheduler.watch(this.#code)
  }

  /** Scores in the queue. */
  get queued(): number {
    return this.#intake.length + this.#judges.size + this.#code.size
  }

  /** Whether the queue of code scorers is nearly full. Judges are slow by nature and do not count. */
  get isBusy(): boolean {
    const { maxContentBytes, queueSize } = this.#parts.options
    const waiting = this.#intake.length + this.#code.size
    return waiting > 0 && (waiting >= queueSize / 2 || this.#contentBytes > maxContentBytes / 2)
  }

  /** Announces a score that is requested later, so that a flush waits for it. */
  expect(task: ScoringTask): void {
    this.#pending.add(task.scored)
    if (this.#isStopped) this.#giveUpWaiting(task)
  }

  /** Adds a task whose run is settled. */
  add(task: ScoringTask): void {
    if (!task.advance('queued')) return
    this.expect(task)
    this.#lineUp(task)
  }

  /** Takes over a task that is already running. */
  adopt(
    task: ScoringTask,
    { run, probability }: Pick<Admitted, 'run' | 'probability'>,
    evaluation: Promise<Evaluation>,
  ): void {
    this.expect(task)
    this.#createJob(task, { run, rate: probability, probability, reservation: undefined }).await(evaluation)
  }

  /** Resolves when every score announced so far is in. */
  settled(): Promise<void> {
    return this.#pending.settled()
  }

  /** Drops scores of judges that no held span waits for, now and from now on. Called synchronously by `shutdown`. */
  beginShutdown(): void {
    this.#isStopping = true
    for (const job of this.#jobs) if (!job.outlastsShutdown) job.abandon()
  }

  /**
   * Runs code scorers in this turn until time is up, those of small runs first: later, loggers and meters may be shut down. The rest
   * follows in later turns. Returns whether nothing is left.
   */
  finishSome(isTimeUp: () => boolean): boolean {
    for (const job of this.#jobs) {
      if (isTimeUp()) return false
      if (job.parts.task.scorer.scorer.kind === 'code') job.startNow()
    }
    const { options } = this.#parts
    this.#intake.sort((one, other) => Number(isSmall(other.scored, options)) - Number(isSmall(one.scored, options)))
    if (!isTimeUp()) this.#admitUntil(isTimeUp)
    return this.#intake.length === 0
  }

  /** Drops all remaining scores, in steps, and all further ones. Must be called after `beginShutdown`. */
  *endShutdown(): Generator<undefined, void> {
    this.#isStopped = true
    yield* eachInSteps(this.#intake.splice(0), (task) => this.#giveUp(task))
    yield* eachInSteps(this.#jobs, (job) => job.abandon())
    // A shutdown within a callback of a run comes before that run is settled.
    yield* eachInSteps(this.#pending.runs(), ({ tasks }) => tasks.forEach((task) => this.#giveUpWaiting(task)))
  }

  #lineUp(task: ScoringTask): void {
    if (this.#isStopped) {
      this.#giveUp(task)
      return
    }
    const { concurrency, maxContentBytes, queueSize } = this.#parts.options
    // Work that can start right away does not need to wait. The queue decides.
    if (this.#intake.length >= queueSize + concurrency || this.#contentBytes > maxContentBytes) {
      this.#admit(task, false)
      return
    }
    this.#intake.push(task)
    if (this.#isAdmitting) return
    this.#isAdmitting = true
    detached(() => inNextTurn(() => this.#admitSome()))
  }

  #admitSome(): void {
    const endMs = this.#parts.now() + ADMISSION_SLICE_MS
    this.#admitUntil(() => this.#parts.now() >= endMs)
    this.#isAdmitting = this.#intake.length > 0
    if (this.#isAdmitting) inNextTurn(() => this.#admitSome())
  }

  #admitUntil(isTimeUp: () => boolean): void {
    do {
      const [next] = this.#intake
      if (next === undefined || !this.#isRead(next, isTimeUp)) break
      this.#intake.shift()
      const isDone = this.#parts.reporter.guard('Admitting a run', () => {
        this.#admit(next)
        return true
      })
      if (isDone === undefined) this.#giveUp(next, NO_RUN)
    } while (!isTimeUp())
  }

  /** Whether a task's run can be put together in one turn of the event loop. A large one is read over several. */
  #isRead({ scored }: ScoringTask, isTimeUp: () => boolean): boolean {
    return isSmall(scored, this.#parts.options) || isTooLarge(scored.scorable) || scored.scorable.readAhead(isTimeUp)
  }

  #admit(task: ScoringTask, hasRoom = true): void {
    const { scored, scorer } = task
    const admission = admit(this.#parts, { scored, scorer, moment: 'settled', hasRoom })
    if (admission.status === 'rejected') this.#reject(task, admission)
    else if (admission.status === 'admitted' && task.advance('admitted')) {
      if (scorer.scorer.kind === 'judge' && this.#parts.handOver !== undefined) {
        void this.#handOver(task, admission)
        return
      }
      const queue = scorer.scorer.kind === 'judge' ? this.#judges : this.#code
      const job = this.#createJob(task, admission)
      if (!this.#isStopping || (queue === this.#judges && job.outlastsShutdown)) queue.add(job)
      else if (queue === this.#code) job.startNow()
      else job.abandon()
      this.#parts.scheduler.changed(queue)
    }
  }

  #giveUpWaiting(task: ScoringTask): void {
    if (task.state === 'waiting' && task.advance('queued')) this.#giveUp(task)
  }

  #giveUp(task: ScoringTask, score = SHUT_DOWN): void {
    this.#reject(task, { status: 'rejected', score, run: undefined, probability: undefined })
  }

  #reject(task: ScoringTask, { score, run, probability }: Rejected): void {
    this.#conclude(task, task.scored.unaskedEvaluation(task.scorer, score, run, probability), run, false)
  }

  async #handOver(task: ScoringTask, { run, rate }: Admitted): Promise<void> {
    const { scored, scorer } = task
    task.advance('scoring')
    const unscored = await this.#handOverRedacted(scored, scorer, run, rate)
    if (unscored !== undefined) {
      this.#conclude(task, scored.unaskedEvaluation(scorer, unscored, run, rate), run, false)
      return
    }
    task.advance('done')
    this.#checkAllIn(scored)
  }

  /** @returns why another process cannot be asked */
  async #handOverRedacted(
    scored: ScoredRun,
    { about }: ResolvedScorer,
    run: AgentRun,
    rate: number,
  ): Promise<Skipped | Failed | undefined> {
    const { options } = this.#parts
    let visible = run
    try {
      if (options.redact !== undefined) visible = await scored.redacted(run, options.redact, isSmall(scored, options))
    } catch (error) {
      return redactFailed(error)
    }
    const { point, upstream } = scored
    return this.#parts.handOver?.(scored, {
      run: visible,
      scorer: about,
      rate,
      point: point.value,
      upstreamProbability: upstream,
    })
  }

  #createJob(task: ScoringTask, { run, rate, probability, reservation }: Omit<Admitted, 'status'>): ScoringJob {
    const { options, reporter, scheduler } = this.#parts
    const bytes = task.scored.scorable.contentBytes
    this.#contentBytes += bytes
    const job = new ScoringJob({
      task,
      run,
      probability,
      reservation,
      priority: this.#priority(task.scorer, rate),
      options,
      reporter,
      scheduler,
      onFinished: (finished, evaluation, wasAsked) => {
        this.#jobs.delete(finished)
        this.#contentBytes -= bytes
        this.#conclude(task, evaluation, run, wasAsked)
      },
    })
    this.#jobs.add(job)
    return job
  }

  /** Runs of one rate have the same priority, whatever their outcome: a full queue must not select by outcome. */
  #priority({ id, sample }: ResolvedScorer, rate: number): 0 | 1 {
    if (typeof sample === 'number') return 0
    const lowest = Math.min(rate, this.#lowestRates.get(id) ?? 1)
    this.#lowestRates.set(id, lowest)
    return rate > lowest ? 1 : 0
  }

  /** @param run the evaluated run, if it was read */
  #conclude(task: ScoringTask, evaluation: Evaluation, run: AgentRun | undefined, wasAsked: boolean): void {
    const { reporter, writer, options } = this.#parts
    const { scored } = task
    if (task.isWorthWriting(evaluation, wasAsked)) {
      // A large run is not read for what says nothing of it.
      const known = run === undefined && isSmall(scored, options) ? scored.read(reporter) : run
      writer.write(scored, evaluation, known, task.evaluation === undefined)
    }
    task.conclude(evaluation, run, () => (this.#isStopping ? undefined : scored.read(reporter)))
    if (task.state === 'queued') this.#lineUp(task)
    this.#checkAllIn(scored)
  }

  #checkAllIn(scored: ScoredRun): void {
    if (scored.isAwaited) return
    this.#parts.reporter.guard('Handing on a held span', () => scored.allIn())
    this.#pending.delete(scored)
  }
}

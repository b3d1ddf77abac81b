import type { AgentRun } from '../../model/agent-run.ts'
import type { Evaluation, Skipped } from '../../model/score.ts'
import type { Reservation } from '../../sampling/budget.ts'
import { isolated } from '../../scoring/isolation.ts'
import type { DropReason, QueueJob } from '../../scoring/queue.ts'
import type { ResolvedOptions } from '../config/options.ts'
import type { Scheduler } from '../scheduler.ts'
import { isSmall } from './admission.ts'
import { askScorer } from './ask-scorer.ts'
import { redactFailed } from './redacted-by.ts'
import { EXPIRED, QUEUE_FULL, SHUT_DOWN } from './rejections.ts'
import type { Reporter } from './reporter.ts'
import type { ScoringTask } from './scored-run.ts'

/** What a job is made of. */
export interface ScoringJobParts {
  readonly task: ScoringTask
  readonly run: AgentRun
  /** The probability with which the run was chosen: its rate, lowered by the budget. */
  readonly probability: number
  readonly reservation: Reservation | undefined
  readonly priority: 0 | 1
  readonly options: ResolvedOptions
  readonly reporter: Reporter
  readonly scheduler: Pick<Scheduler, 'after' | 'turns'>
  /** Takes the result, and whether the scorer was asked for it. Called once. */
  readonly onFinished: (job: ScoringJob, evaluation: Evaluation, wasAsked: boolean) => void
}

const REASONS: Readonly<Record<DropReason, Skipped>> = { 'queue-full': QUEUE_FULL, expired: EXPIRED }

/** One evaluation of a task that is given after its span has ended. It ends with exactly one result. */
export class ScoringJob implements QueueJob {
  readonly parts: ScoringJobParts
  readonly #controller = new AbortController()
  #isFinished = false

  constructor(parts: ScoringJobParts) {
    this.parts = parts
  }

  get priority(): 0 | 1 {
    return this.parts.priority
  }

  async start(): Promise<void> {
    // A scorer that computes for long delays neither the span's end nor, in the same turn, what else is to be done.
    await this.parts.scheduler.turns.next()
    if (!this.#begin()) return
    const visible = await this.#visibleRun()
    if (visible === undefined || this.#isFinished) return
    const { options, scheduler } = this.parts
    const cancel = scheduler.after(options.timeoutMs, () => this.#controller.abort())
    try {
      this.#finish(await this.#evaluate(visible), true)
    } finally {
      cancel()
    }
  }

  /** Does the work in this turn of the event loop, if it has not begun. Only for scorers that are code, which `redact` is not for. */
  startNow(): void {
    if (!this.#begin()) return
    const evaluation = this.#evaluate(this.parts.run)
    if (evaluation instanceof Promise) this.await(evaluation)
    else this.#finish(evaluation, true)
  }

  /** Takes the result of work that has begun already. */
  await(evaluation: Promise<Evaluation>): void {
    void evaluation.then((result) => this.#finish(result, true))
  }

  dropped(reason: DropReason): void {
    this.#giveUp(REASONS[reason])
  }

  /** Gives the score up because the processor ends, whether work on it has begun or not. */
  abandon(): void {
    this.#giveUp(SHUT_DOWN)
    this.#controller.abort(SHUT_DOWN)
  }

  #begin(): boolean {
    return !this.#isFinished && this.parts.task.advance('scoring')
  }

  #giveUp(score: Skipped): void {
    const { task, run, probability } = this.parts
    this.#finish(task.scored.unaskedEvaluation(task.scorer, score, run, probability), false)
  }

  /** Takes a result; what comes after the first is ignored. */
  #finish(evaluation: Evaluation, wasAsked: boolean): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#settleBudget(evaluation)
    this.parts.onFinished(this, evaluation, wasAsked)
  }

  /** The run as its scorer may see it; `undefined` if that cannot be had, and the job has ended. */
  async #visibleRun(): Promise<AgentRun | undefined> {
    const { task, run, probability, options } = this.parts
    const { scored, scorer } = task
    if (scorer.scorer.kind !== 'judge' || options.redact === undefined) return run
    try {
      return await scored.redacted(run, options.redact, isSmall(scored, options))
    } catch (error) {
      this.#finish(scored.unaskedEvaluation(scorer, redactFailed(error), run, probability), true)
      return undefined
    }
  }

  #evaluate(visible: AgentRun): Evaluation | Promise<Evaluation> {
    const { task, probability, options, reporter } = this.parts
    const { scored, scorer } = task
    const { signal } = this.#controller
    return isolated(() => askScorer(scored, scorer, visible, { options, reporter, probability, signal }))
  }

  #settleBudget({ judge, score }: Evaluation): void {
    const { reservation } = this.parts
    if (judge) {
      const tokens = (judge.usage.inputTokens ?? 0) + (judge.usage.outputTokens ?? 0)
      reservation?.settle({
        calls: judge.calls,
        tokens,
        ...(judge.costUsd !== undefined && { costUsd: judge.costUsd }),
      })
    } else if (score.status === 'skipped' || (score.status === 'failed' && score.code === 'redact-failed')) {
      reservation?.settle({ calls: 0, tokens: 0, costUsd: 0 })
    }
    // Where it failed and does not report what it took, the estimate remains booked.
  }
}

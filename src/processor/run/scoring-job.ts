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

/** The parts of a job. */
export interface ScoringJobParts {
  readonly task: ScoringTask
  readonly run: AgentRun
  /** The probability with which the run was chosen: its rate, reduced by the budget. */
  readonly probability: number
  readonly reservation: Reservation | undefined
  readonly priority: 0 | 1
  readonly options: ResolvedOptions
  readonly reporter: Reporter
  readonly scheduler: Pick<Scheduler, 'after' | 'turns'>
  /** Receives the result, and whether the scorer was asked. Called once. */
  readonly onFinished: (job: ScoringJob, evaluation: Evaluation, wasAsked: boolean) => void
}

const REASONS: Readonly<Record<DropReason, Skipped>> = { 'queue-full': QUEUE_FULL, expired: EXPIRED }

/** One evaluation that happens after the span has ended. It ends with exactly one result. */
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

  /** Whether the job continues during a shutdown. A judge continues only if a held span waits for its score. */
  get outlastsShutdown(): boolean {
    const { scored, scorer } = this.parts.task
    return scorer.scorer.kind === 'code' || scored.outlet.isHeld
  }

  async start(): Promise<void> {
    // A separate turn of the event loop: a long computation then delays neither the span's end nor other work of the same turn.
    await this.parts.scheduler.turns.next()
    if (!this.#begin()) return
    const visible = await this.#visibleRun()
    if (visible === undefined || this.#isFinished) return
    const { options, scheduler } = this.parts
    const cancel = scheduler.after(options.timeoutMs, () => this.#abort())
    try {
      this.#finish(await this.#evaluate(visible), true)
    } finally {
      cancel()
    }
  }

  /** Runs now, synchronously, unless already running. Only for code scorers, which do not need `redact`. */
  startNow(): void {
    if (!this.#begin()) return
    const evaluation = this.#evaluate(this.parts.run)
    if (evaluation instanceof Promise) this.await(evaluation)
    else this.#finish(evaluation, true)
  }

  /** Takes the result of work that is already running. */
  await(evaluation: Promise<Evaluation>): void {
    void evaluation.then((result) => this.#finish(result, true))
  }

  dropped(reason: DropReason): void {
    this.#giveUp(REASONS[reason])
  }

  /** Gives up the score, running or not, because the processor shuts down. */
  abandon(): void {
    this.#giveUp(SHUT_DOWN)
    this.#abort(SHUT_DOWN)
  }

  /** Listeners of the signal are code of the scorer. */
  #abort(reason?: Skipped): void {
    isolated(() => this.#controller.abort(reason))
  }

  #begin(): boolean {
    return !this.#isFinished && this.parts.task.advance('scoring')
  }

  #giveUp(score: Skipped): void {
    const { task, run, probability } = this.parts
    this.#finish(task.scored.unaskedEvaluation(task.scorer, score, run, probability), false)
  }

  /** Takes the first result; later ones are ignored. */
  #finish(evaluation: Evaluation, wasAsked: boolean): void {
    if (this.#isFinished) return
    this.#isFinished = true
    this.#settleBudget(evaluation)
    this.parts.onFinished(this, evaluation, wasAsked)
  }

  /** The run as its scorer may see it; `undefined` if there is none, and the job has ended. */
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
    const what = `An abort listener of ${scorer.scorer.id}`
    guardListeners(signal, (listen) => reporter.callBack(what, listen))
    return isolated(() => askScorer(scored, scorer, visible, { options, reporter, probability, signal }))
  }

  #settleBudget({ judge, score }: Evaluation): void {
    const { reservation } = this.parts
    if (judge) {
      const { inputTokens, outputTokens } = judge.usage
      const isCounted = inputTokens !== undefined && outputTokens !== undefined
      reservation?.settle({
        calls: judge.calls,
        ...(isCounted && { tokens: inputTokens + outputTokens }),
        ...(judge.costUsd !== undefined && { costUsd: judge.costUsd }),
      })
    } else if (score.status === 'skipped' || (score.status === 'failed' && score.code === 'redact-failed')) {
      reservation?.settle({ calls: 0, tokens: 0, costUsd: 0 })
    }
    // What a call does not report of its usage remains booked as estimated.
  }
}

type Listener = Parameters<AbortSignal['addEventListener']>[1] | null
type ListenerOptions = Parameters<AbortSignal['addEventListener']>[2]

/** Node.js ends the process if a listener of a signal throws. Each one that is added is called by `call`. */
function guardListeners(signal: AbortSignal, call: (listen: () => unknown) => void): void {
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  const guarded = new WeakMap<object, (event: Event) => void>()
  const guard = (listener: Listener): ((event: Event) => void) => {
    if (listener === null) return () => undefined
    const own =
      guarded.get(listener) ??
      ((event: Event) => {
        call(() => (typeof listener === 'function' ? listener.call(signal, event) : listener.handleEvent(event)))
      })
    guarded.set(listener, own)
    return own
  }
  let handler: AbortSignal['onabort'] = null
  Object.defineProperties(signal, {
    addEventListener: {
      value: (type: string, listener: Listener, options?: ListenerOptions) => {
        add(type, guard(listener), options)
      },
    },
    removeEventListener: {
      value: (type: string, listener: Listener, options?: ListenerOptions) => {
        remove(type, guard(listener), options)
      },
    },
    onabort: {
      get: () => handler,
      set: (given: AbortSignal['onabort']) => {
        if (handler !== null) signal.removeEventListener('abort', handler)
        handler = typeof given === 'function' ? given : null
        if (handler !== null) signal.addEventListener('abort', handler)
      },
    },
  })
}

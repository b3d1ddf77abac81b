import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, Skipped } from '../model/score.ts'
import type { Budget } from '../sampling/budget.ts'
import { eachInSteps } from '../scoring/background.ts'
import type { Background, WorkSteps } from '../scoring/background.ts'
import type { Ledger } from '../scoring/ledger.ts'
import { admit, isReadInSteps, isSmall } from './admission.ts'
import type { Admitted, Rejected } from './admission.ts'
import type { ResolvedOptions, ResolvedScorer } from './config/options.ts'
import { ScoringQueue } from './queue.ts'
import type { DropReason } from './queue.ts'
import { redactFailed } from './redact.ts'
import { EXPIRED, NO_RUN, QUEUE_FULL, SHUT_DOWN } from './rejections.ts'
import type { Reporter } from './reporter.ts'
import type { AdmittedRun, RunScores, Task } from './run-scores.ts'
import { NO_COST, ScorerCall, settleCost } from './scorer-call.ts'

/** Scores are dropped after waiting this long in the queue. */
const MAX_AGE_MS = 300_000

/** What tasks need. */
export interface TasksParts {
  readonly options: ResolvedOptions
  readonly budget: Budget
  readonly reporter: Reporter
  readonly background: Background
  readonly ledger: Pick<Ledger, 'withdrawn'>
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly write: (scores: RunScores, evaluation: Evaluation, run: AgentRun | undefined, isFirst: boolean) => void
}

const REASONS: Readonly<Record<DropReason, Skipped>> = { 'queue-full': QUEUE_FULL, expired: EXPIRED }

/**
 * Scores that are not given while a span is ending: judges, and code that is slow, asynchronous, or has much to read. They are admitted in the
 * background, queued, and asked in the background. Each ends with one result.
 */
export class Tasks {
  readonly #parts: TasksParts
  readonly #judges: ScoringQueue
  readonly #code: ScoringQueue
  /** Runs with pending scores, in the order in which they became so, with their place in it. */
  readonly #pending = new Map<RunScores, number>()
  #latestPlace = 0
  /** Who waits until the runs up to a place are in, in its order. All who ask at the same place share one promise. */
  readonly #waiting: { readonly place: number; readonly promise: Promise<void>; readonly resolve: () => void }[] = []
  /** The lowest rate that each scorer's `sample` function has returned. Runs kept at a higher rate are rare, and take precedence. */
  readonly #lowestRates = new Map<string, number>()
  /** Tasks that wait for admission. */
  #intake = 0
  /** Bytes of content of the runs that were admitted and are not scored. */
  #contentBytes = 0
  #isStopping = false
  #isStopped = false

  constructor(parts: TasksParts) {
    this.#parts = parts
    const { concurrency, queueSize } = parts.options
    const bounds = { concurrency, capacity: queueSize, maxAgeMs: MAX_AGE_MS, now: parts.now }
    this.#judges = new ScoringQueue(bounds)
    this.#code = new ScoringQueue(bounds)
  }

  /** Scores in the queue. */
  get queued(): number {
    return this.#intake + this.#judges.size + this.#code.size
  }

  /** Whether the queue of code scorers is nearly full. Judges are slow by nature and do not count. */
  get isBusy(): boolean {
    const { memoryBytes, queueSize } = this.#parts.options
    const waiting = this.#intake + this.#code.size
    return waiting > 0 && (waiting >= queueSize / 2 || this.#contentBytes > memoryBytes / 2)
  }

  /** Announces a score that is requested later, so that a flush waits for it. */
  expect({ scores, state }: Task): void {
    this.#addPending(scores)
    if (this.#isStopped && state === 'waiting') this.#giveUpAll(scores)
  }

  /** Adds a task whose run is settled. */
  add(task: Task): void {
    if (!task.advance('queued')) return
    this.#addPending(task.scores)
    this.#lineUp(task)
  }

  /** Takes over a task whose scorer is already running. */
  adopt(task: Task, admitted: AdmittedRun, evaluation: Promise<Evaluation>): void {
    this.#addPending(task.scores)
    task.admitted = admitted
    this.#contentBytes += task.scores.run.contentBytes
    void evaluation.then((result) => this.#finish(task, result, true))
  }

  /** A score was given while spans of its run were open, and they have ended. Its scorer is asked again if they changed the run. */
  check(task: Task): void {
    const { scores } = task
    if (isSmall(scores, this.#parts.options)) this.#checkNow(task)
    else this.#inBackground(task, this.#readThenCheck(task))
  }

  /** Resolves when every score that is pending now is in. */
  async settled(): Promise<void> {
    await this.#parts.background.done()
    await this.#pendingAreIn()
  }

  #pendingAreIn(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve()
    const place = this.#latestPlace
    const latest = this.#waiting.at(-1)
    if (latest?.place === place) return latest.promise
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push({ place, promise, resolve })
    return promise
  }

  #addPending(scores: RunScores): void {
    if (!this.#pending.has(scores)) this.#pending.set(scores, (this.#latestPlace += 1))
  }

  #removePending(scores: RunScores): void {
    this.#pending.delete(scores)
    if (this.#waiting.length === 0) return
    const [first = Number.POSITIVE_INFINITY] = this.#pending.values()
    const more = this.#waiting.findIndex(({ place }) => place >= first)
    for (const { resolve } of this.#waiting.splice(0, more === -1 ? this.#waiting.length : more)) resolve()
  }

  /**
   * Drops scores of judges that no held span waits for, now and from now on. Code that waits for its turn is asked in the background. Called
   * synchronously by `shutdown`.
   */
  beginShutdown(): void {
    this.#isStopping = true
    for (const { tasks } of this.#pending.keys()) {
      for (const task of tasks) {
        if (task.state !== 'admitted' && task.state !== 'scoring') continue
        if (!task.outlastsShutdown) this.#abandon(task)
        else if (!task.isJudge && task.state === 'admitted') this.#inBackground(task, this.#askNow(task))
      }
    }
  }

  /** Drops all remaining scores, in steps, and all further ones. Must be called after `beginShutdown`. */
  *endShutdown(): WorkSteps {
    this.#isStopped = true
    yield* eachInSteps([...this.#pending.keys()], (scores) => this.#giveUpAll(scores))
  }

  /** Another process scores this settled run from now on: pending scores are neither written nor counted here. */
  withdraw(scores: RunScores): void {
    for (const task of scores.tasks) {
      const { state, admitted, call } = task
      if (!task.withdraw()) continue
      // What a judge costs that was asked already stays booked as estimated.
      if (state !== 'scoring') admitted?.reservation?.settle(NO_COST)
      if (admitted !== undefined) this.#contentBytes -= scores.run.contentBytes
      if (task.evaluation === undefined) this.#parts.ledger.withdrawn(task.scorer.id)
      call?.abort(SHUT_DOWN)
    }
    this.#checkAllIn(scores)
  }

  /** Withdraws the runs about which judges have still to be asked. */
  withdrawUnasked(): void {
    for (const scores of this.#pending.keys()) {
      const isUnasked = scores.tasks.some(
        ({ isJudge, state }) => isJudge && (state === 'queued' || state === 'admitted'),
      )
      if (isUnasked) this.withdraw(scores)
    }
  }

  #giveUpAll({ tasks }: RunScores): void {
    for (const task of tasks) {
      if (task.state === 'admitted' || task.state === 'scoring') this.#abandon(task)
      else if (task.isAwaited && (task.state === 'queued' || task.advance('queued'))) this.#giveUp(task, SHUT_DOWN)
    }
  }

  #lineUp(task: Task): void {
    if (this.#isStopped) {
      this.#giveUp(task, SHUT_DOWN)
      return
    }
    const { concurrency, memoryBytes, queueSize } = this.#parts.options
    // Work that can start right away does not need to wait. The queue decides.
    if (this.#intake >= queueSize + concurrency || this.#contentBytes > memoryBytes) {
      this.#admit(task, false)
      return
    }
    this.#intake += 1
    this.#inBackground(task, this.#readThenAdmit(task))
  }

  *#readThenAdmit(task: Task): WorkSteps {
    try {
      const { scores, scorer } = task
      if (task.state === 'queued' && isReadInSteps(scores, scorer, this.#parts.options)) yield* scores.run.readInSteps()
    } finally {
      this.#intake -= 1
    }
    if (task.state === 'queued') this.#admit(task)
  }

  *#readThenCheck(task: Task): WorkSteps {
    yield* task.scores.run.readInSteps()
    this.#checkNow(task)
  }

  #checkNow(task: Task): void {
    if (task.state !== 'provisional') return
    if (task.isOutdated(task.scores.read(this.#parts.reporter))) this.add(task)
    else task.advance('done')
  }

  /** Whatever fails, the task ends with a result. */
  #inBackground(task: Task, steps: WorkSteps): void {
    const { background, reporter } = this.#parts
    background.run(steps).catch((error: unknown) => {
      reporter.threw('Scoring a run', error)
      this.#giveUp(task, NO_RUN)
    })
  }

  #admit(task: Task, hasRoom = true): void {
    const { scores, scorer } = task
    const admission = admit(this.#parts, { scores, scorer, moment: 'settled', hasRoom })
    if (admission.status === 'rejected') this.#reject(task, admission)
    if (admission.status !== 'admitted' || !task.advance('admitted')) return
    task.admitted = admission
    this.#contentBytes += scores.run.contentBytes
    if (this.#isStopping && !task.outlastsShutdown) this.#abandon(task)
    else if (this.#isStopping && !task.isJudge) this.#inBackground(task, this.#askNow(task))
    else this.#enqueue(task, admission)
  }

  #enqueue(task: Task, { rate }: Admitted): void {
    const queue = task.isJudge ? this.#judges : this.#code
    queue.add({
      priority: this.#priority(task.scorer, rate),
      start: () => this.#start(task),
      dropped: (reason) => this.#giveUp(task, REASONS[reason]),
    })
  }

  /** Runs of one rate have the same priority, whatever their outcome: a full queue must not select by outcome. */
  #priority({ id, sample }: ResolvedScorer, rate: number): 0 | 1 {
    if (typeof sample === 'number') return 0
    const lowest = Math.min(rate, this.#lowestRates.get(id) ?? 1)
    this.#lowestRates.set(id, lowest)
    return rate > lowest ? 1 : 0
  }

  /** Resolves when the scorer has given its score, so that another one may start. */
  async #start(task: Task): Promise<void> {
    const asking = Promise.withResolvers<Evaluation | undefined>()
    this.#inBackground(task, this.#ask(task, asking.resolve))
    const evaluation = await asking.promise
    if (evaluation !== undefined) this.#finish(task, evaluation, true)
  }

  *#askNow(task: Task): WorkSteps {
    yield* this.#ask(task, (evaluation) => {
      if (evaluation instanceof Promise) void evaluation.then((result) => this.#finish(task, result, true))
    })
  }

  /** Asks the scorer. `take` gets what an asynchronous one will give; a synchronous one is finished by then. */
  *#ask(task: Task, take: (evaluation: Promise<Evaluation> | undefined) => void): WorkSteps {
    const { options, reporter } = this.#parts
    const { scores, scorer, admitted } = task
    if (admitted === undefined || !task.advance('scoring')) {
      take(undefined)
      return
    }
    const { run, probability } = admitted
    let visible = run
    // The runs of a conversation were redacted before they were kept.
    if (task.isJudge && options.redact !== undefined && scores.run.isFor === undefined) {
      try {
        visible = yield* scores.redacted(run, options.redact)
      } catch (error) {
        this.#finish(task, scores.unasked(scorer.about, redactFailed(error), run, probability), true)
        take(undefined)
        return
      }
    }
    if (task.state === 'scoring') {
      task.call = new ScorerCall({ scorer, probability, upstream: scores.upstream, options, reporter })
      const evaluation = task.call.ask(visible)
      if (evaluation instanceof Promise) {
        take(evaluation)
        return
      }
      this.#finish(task, evaluation, true)
    }
    take(undefined)
  }

  /** Gives up a score that was admitted, whether its scorer is running or not. */
  #abandon(task: Task): void {
    const { call } = task
    this.#giveUp(task, SHUT_DOWN)
    call?.abort(SHUT_DOWN)
  }

  #giveUp(task: Task, score: Skipped): void {
    const { scores, scorer, admitted } = task
    this.#finish(task, scores.unasked(scorer.about, score, admitted?.run, admitted?.probability), false)
  }

  #reject(task: Task, { score, run, probability }: Rejected): void {
    this.#conclude(task, task.scores.unasked(task.scorer.about, score, run, probability), run, false)
  }

  /** Takes the result of a task; later ones are ignored. */
  #finish(task: Task, evaluation: Evaluation, wasAsked: boolean): void {
    if (!task.isAwaited) return
    const { scores, admitted } = task
    if (admitted !== undefined) {
      settleCost(admitted.reservation, evaluation)
      this.#contentBytes -= scores.run.contentBytes
    }
    task.admitted = undefined
    task.call = undefined
    this.#conclude(task, evaluation, admitted?.run, wasAsked)
  }

  /** @param run the evaluated run, if it was read */
  #conclude(task: Task, evaluation: Evaluation, run: AgentRun | undefined, wasAsked: boolean): void {
    const { reporter, options, write } = this.#parts
    const { scores } = task
    const isFirst = task.evaluation === undefined
    const isWorthWriting = task.isWorthWriting(evaluation, wasAsked)
    // The application hears of the score when it is written, and may shut scoring down: by then it is not awaited any more.
    task.conclude(evaluation, run, () => (this.#isStopping ? undefined : scores.read(reporter)))
    if (isWorthWriting) {
      // A large run is not read for what says nothing of it.
      const known = run === undefined && isSmall(scores, options) ? scores.read(reporter) : run
      write(scores, evaluation, known, isFirst)
    }
    if (task.state === 'queued') this.#lineUp(task)
    this.#checkAllIn(scores)
  }

  #checkAllIn(scores: RunScores): void {
    if (scores.isAwaited) return
    this.#removePending(scores)
    this.#parts.reporter.guard('Handing on a held span', () => scores.allIn())
  }
}

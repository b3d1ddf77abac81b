import { TraceFlags } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, Score } from '../model/score.ts'
import type { Budget, Reservation } from '../sampling/budget.ts'
import type { SamplePoint } from '../sampling/sample-point.ts'
import type { WorkSteps } from '../scoring/background.ts'
import { isComplete } from '../scoring/evaluate.ts'
import type { ResolvedScorer } from './config/options.ts'
import type { ScoreTarget } from './score-target.ts'
import { redactInSteps } from './redact.ts'
import type { Reporter } from './reporter.ts'
import type { ScorableRun } from './scorable-run.ts'
import type { ScorerCall } from './scorer-call.ts'

/** The parts of the scores of a run. */
export interface RunScoresParts {
  readonly run: ScorableRun
  readonly target: ScoreTarget
  readonly point: SamplePoint
  /** The probability with which the tracer kept the run, if the application configures it or trusts tracestate. */
  readonly upstream: number | undefined
}

/** A run that has ended and is being scored, and what its scorers share. */
export class RunScores {
  readonly run: ScorableRun
  readonly target: ScoreTarget
  readonly point: SamplePoint
  readonly upstream: number | undefined
  /** Scorers that did not finish while the agent's span was ending. */
  readonly tasks: Task[] = []
  /** Whether the run is as complete as it will be. */
  isSettled = false
  #budgetFactor: number | undefined
  #redacted: { readonly of: AgentRun; readonly run: AgentRun } | undefined
  #whenAllIn: PromiseWithResolvers<void> | undefined

  constructor({ run, target, point, upstream }: RunScoresParts) {
    this.run = run
    this.target = target
    this.point = point
    this.upstream = upstream
  }

  /** Whether the span is exported. */
  get isSampled(): boolean {
    return (this.target.spanContext.traceFlags & TraceFlags.SAMPLED) !== 0
  }

  /** Whether scores are pending. */
  get isAwaited(): boolean {
    return this.tasks.some((task) => task.isAwaited)
  }

  /** The run with all spans so far; `undefined` if they do not form one. */
  read(reporter: Reporter): AgentRun | undefined {
    return reporter.guard('Putting a run together', () => this.run.current())
  }

  /** Whether another process gives some of the scores. */
  get isWithdrawn(): boolean {
    return this.tasks.some((task) => task.isWithdrawn)
  }

  /** Resolves when no score is pending. */
  whenAllIn(): Promise<void> {
    if (!this.isAwaited) return Promise.resolve()
    this.#whenAllIn ??= Promise.withResolvers()
    return this.#whenAllIn.promise
  }

  /** Must be called when the last pending score is in. */
  allIn(): void {
    this.target.allIn()
    this.#whenAllIn?.resolve()
    this.#whenAllIn = undefined
  }

  /** The budget's factor. It is the same for all judges of the run, so that they choose the same runs. */
  budgetFactor(budget: Budget, service: string): number {
    this.#budgetFactor ??= budget.factor(service)
    return this.#budgetFactor
  }

  /** The run redacted for judges, once for all of them. Throws if `redact` throws or does not return a run. */
  *redacted(run: AgentRun, redact: (run: AgentRun) => AgentRun): WorkSteps<AgentRun> {
    if (this.#redacted?.of !== run) this.#redacted = { of: run, run: yield* redactInSteps(redact, run) }
    return this.#redacted.run
  }

  /**
   * The evaluation of a scorer that was not asked.
   *
   * @param probability the probability with which the run was chosen for the scorer, if it was
   */
  unasked(
    about: ResolvedScorer['about'],
    score: Score,
    run: AgentRun | undefined,
    probability: number | undefined,
  ): Evaluation {
    const { traceId, spanId } = this.target.spanContext
    return {
      scorer: about,
      runId: run?.id ?? `${traceId}:${spanId}`,
      revision: run?.revision ?? 1,
      complete: run !== undefined && isComplete(run),
      ...(probability !== undefined && { probability }),
      ...(this.upstream !== undefined && { upstreamProbability: this.upstream }),
      durationMs: 0,
      score,
    }
  }
}

/** A run that a scorer may be asked about. */
export interface AdmittedRun {
  readonly run: AgentRun
  /** The rate, reduced by the budget: the probability with which the run was chosen. */
  readonly probability: number
  /** The budget reserved for a judge. */
  readonly reservation: Reservation | undefined
}

/** The state of one scorer for one run. */
export type TaskState =
  /** The scorer is asked when the run is settled. */
  | 'waiting'
  /** The score waits for admission. */
  | 'queued'
  /** The score is admitted, and waits for its turn. */
  | 'admitted'
  /** The scorer is running. */
  | 'scoring'
  /** The score was given while spans of the run were open. It is checked when they have ended. */
  | 'provisional'
  /** Final. */
  | 'done'

/** The allowed transitions. */
const NEXT_STATES: Readonly<Record<TaskState, readonly TaskState[]>> = {
  waiting: ['queued'],
  queued: ['admitted', 'queued', 'provisional', 'done'],
  admitted: ['scoring', 'queued', 'provisional', 'done'],
  scoring: ['queued', 'provisional', 'done'],
  provisional: ['queued', 'scoring', 'done'],
  done: [],
}

/** One scorer's work on one run, if it is not finished while the agent's span is ending. Its state is the only record of its progress. */
export class Task {
  readonly scores: RunScores
  readonly scorer: ResolvedScorer
  /** Whether the scorer scored while the agent's span was ending. */
  readonly isInline: boolean
  /** The run that the scorer is asked about, and its reserved budget, once it is admitted. */
  admitted: AdmittedRun | undefined
  /** The call of the scorer, while it is running. */
  call: ScorerCall | undefined
  #state: TaskState
  #evaluated: { readonly run: AgentRun | undefined; readonly evaluation: Evaluation } | undefined
  /** Whether the scorer was asked while spans of the run were open. */
  #isEarly: boolean
  #isWithdrawn = false

  private constructor(scores: RunScores, scorer: ResolvedScorer, state: TaskState) {
    this.scores = scores
    this.scorer = scorer
    this.isInline = state !== 'waiting'
    this.#isEarly = this.isInline && scores.run.hasOpenSpans
    this.#state = state
    scores.tasks.push(this)
  }

  /** The scorer is asked when the run is settled. */
  static waiting(scores: RunScores, scorer: ResolvedScorer): Task {
    return new Task(scores, scorer, 'waiting')
  }

  /** The scorer was asked while the agent's span was ending, and is still running. */
  static scoring(scores: RunScores, scorer: ResolvedScorer): Task {
    return new Task(scores, scorer, 'scoring')
  }

  /** The scorer scored the run while the agent's span was ending, and other spans are open. */
  static provisional(scores: RunScores, scorer: ResolvedScorer, run: AgentRun, evaluation: Evaluation): Task {
    const task = new Task(scores, scorer, 'provisional')
    task.#evaluated = { run, evaluation }
    return task
  }

  get state(): TaskState {
    return this.#state
  }

  /** Whether a score is pending. */
  get isAwaited(): boolean {
    return this.#state !== 'provisional' && this.#state !== 'done'
  }

  /** Whether another process gives the score. */
  get isWithdrawn(): boolean {
    return this.#isWithdrawn
  }

  get isJudge(): boolean {
    return this.scorer.scorer.kind === 'judge'
  }

  /** Whether the task continues during a shutdown. A judge continues only if a held span waits for its score. */
  get outlastsShutdown(): boolean {
    return !this.isJudge || this.scores.target.isHeld
  }

  /** The first evaluation, if any. Later ones are written but not counted again. */
  get evaluation(): Evaluation | undefined {
    return this.#evaluated?.evaluation
  }

  /** Changes the state; returns false without a change if the transition is not allowed, so that late events are ignored. */
  advance(state: TaskState): boolean {
    if (!NEXT_STATES[this.#state].includes(state)) return false
    this.#state = state
    if (state === 'queued' || state === 'admitted') this.#isEarly = !this.scores.isSettled
    return true
  }

  /**
   * Takes an evaluation. If spans of the run were open when the scorer was asked, the scorer is asked again if they change the run: the
   * task is `provisional` while they may, and `queued` once they have.
   *
   * @param run the evaluated run, if it was read
   * @param readRun reads the run with all spans so far
   */
  conclude(evaluation: Evaluation, run: AgentRun | undefined, readRun: () => AgentRun | undefined): void {
    this.#evaluated = { run, evaluation }
    const isOpen = this.#isEarly && !this.scores.isSettled
    const isOutdated = this.#isEarly && !isOpen && this.isOutdated(readRun())
    this.#isEarly = false
    this.advance(isOpen ? 'provisional' : isOutdated ? 'queued' : 'done')
  }

  /** Another process gives the score. Returns false if none is pending. */
  withdraw(): boolean {
    if (!this.isAwaited || !this.advance('done')) return false
    this.#isWithdrawn = true
    this.admitted = undefined
    this.call = undefined
    return true
  }

  /** Whether the run has changed since it was evaluated. */
  isOutdated(current: AgentRun | undefined): boolean {
    if (current === undefined || this.#evaluated === undefined) return false
    const { run } = this.#evaluated
    return run === undefined ? current.revision > 1 : current !== run
  }

  /** Whether to write a result. An earlier score stays if its scorer could not be asked again, or gives the same score again while inline. */
  isWorthWriting(evaluation: Evaluation, wasAsked: boolean): boolean {
    if (this.#evaluated === undefined) return true
    return wasAsked && (!this.isInline || this.#isNews(evaluation))
  }

  #isNews({ score, calls }: Evaluation): boolean {
    const first = this.#evaluated?.evaluation
    if (first === undefined || differs(first.score, score)) return true
    return (
      calls?.length !== first.calls?.length ||
      calls?.some((call, index) => differs(first.calls?.[index]?.score, call.score)) === true
    )
  }
}

function differs(first: Score | undefined, second: Score): boolean {
  if (first === undefined || second.status !== first.status) return true
  if (second.status !== 'scored' || first.status !== 'scored') return false
  return second.value !== first.value || second.label !== first.label
}

import { TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../../model/agent-run.ts'
import type { Evaluation, Score } from '../../model/score.ts'
import type { Budget } from '../../sampling/budget.ts'
import type { SamplePoint } from '../../sampling/sample-point.ts'
import type { ResolvedScorer } from '../config/options.ts'
import type { SpanOutlet } from '../deliver/span-outlet.ts'
import { redactedBy, redactedInSlices } from './redacted-by.ts'
import { isComplete } from '../../scoring/evaluate.ts'
import type { Reporter } from './reporter.ts'
import type { ScorableRun } from './scorable-run.ts'

/** The parts of a scored run. */
export interface ScoredRunParts {
  readonly scorable: ScorableRun
  readonly target: SpanContext
  readonly point: SamplePoint
  readonly outlet: SpanOutlet
  /** The probability with which the tracer kept the run, if the application configures it or trusts tracestate. */
  readonly upstream: number | undefined
}

/** A run that has ended and is being scored. */
export class ScoredRun {
  readonly scorable: ScorableRun
  /** The span for the scores. */
  readonly target: SpanContext
  readonly point: SamplePoint
  readonly outlet: SpanOutlet
  readonly upstream: number | undefined
  /** Scorers that did not finish while the span was ending. */
  readonly tasks: ScoringTask[] = []
  #isSettled = false
  #budgetFactor: number | undefined
  #redacted: { readonly of: AgentRun; readonly run: Promise<AgentRun> } | undefined
  #onAllIn: (() => void) | undefined

  constructor({ scorable, target, point, outlet, upstream }: ScoredRunParts) {
    this.scorable = scorable
    this.target = target
    this.point = point
    this.outlet = outlet
    this.upstream = upstream
  }

  /** Whether the span is exported. */
  get isSampled(): boolean {
    return (this.target.traceFlags & TraceFlags.SAMPLED) !== 0
  }

  /** Whether the run is as complete as it will be. */
  get isSettled(): boolean {
    return this.#isSettled
  }

  /** Whether scores are pending. */
  get isAwaited(): boolean {
    return this.tasks.some((task) => task.isAwaited)
  }

  /** The run with all spans so far; `undefined` if they do not form one. */
  read(reporter: Reporter): AgentRun | undefined {
    return reporter.guard('Putting a run together', () => this.scorable.current())
  }

  settle(): void {
    this.#isSettled = true
  }

  /** Calls back once, when no more scores are pending. */
  whenAllIn(callBack: () => void): void {
    this.#onAllIn = callBack
  }

  /** Must be called when the last pending score is in. */
  allIn(): void {
    this.outlet.allIn()
    const callBack = this.#onAllIn
    this.#onAllIn = undefined
    callBack?.()
  }

  /** The budget's factor. It is the same for all judges of the run, so that they choose the same runs. */
  budgetFactor(budget: Budget): number {
    this.#budgetFactor ??= budget.factor()
    return this.#budgetFactor
  }

  /**
   * The run redacted for judges, once for all of them. Rejects if `redact` throws or does not return a run.
   *
   * @param isSmall whether to redact in one turn of the event loop
   */
  redacted(run: AgentRun, redact: (run: AgentRun) => AgentRun, isSmall: boolean): Promise<AgentRun> {
    if (this.#redacted?.of !== run) {
      const redacting = async (): Promise<AgentRun> =>
        isSmall ? redactedBy(redact, run) : redactedInSlices(redact, run)
      this.#redacted = { of: run, run: redacting() }
    }
    return this.#redacted.run
  }

  /**
   * The evaluation of a scorer that was not asked.
   *
   * @param probability the probability with which the run was chosen for the scorer, if it was
   */
  unaskedEvaluation(
    { about }: Pick<ResolvedScorer, 'about'>,
    score: Score,
    run: AgentRun | undefined,
    probability: number | undefined,
  ): Evaluation {
    const { traceId, spanId } = this.target
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

/** The state of one scorer for one run. */
export type ScoringState =
  /** The scorer is asked when the run is settled. */
  | 'waiting'
  /** The score waits for admission. */
  | 'queued'
  /** The score is admitted and in the queue. */
  | 'admitted'
  /** The scorer is running. */
  | 'scoring'
  /** The score was given while spans of the run were open. It is checked when they have ended. */
  | 'provisional'
  /** Final. */
  | 'done'

/** The allowed transitions. */
const NEXT_STATES: Readonly<Record<ScoringState, readonly ScoringState[]>> = {
  waiting: ['queued'],
  queued: ['admitted', 'queued', 'provisional', 'done'],
  admitted: ['scoring', 'queued', 'provisional', 'done'],
  scoring: ['queued', 'provisional', 'done'],
  provisional: ['queued', 'scoring', 'done'],
  done: [],
}

/** One scorer's work on one run, if it is not finished while the agent's span is ending. */
export class ScoringTask {
  readonly scored: ScoredRun
  readonly scorer: ResolvedScorer
  /** Whether the scorer scored while the agent's span was ending. */
  readonly isInline: boolean
  #state: ScoringState
  #evaluated: { readonly run: AgentRun | undefined; readonly evaluation: Evaluation } | undefined
  /** Whether the scorer was asked while spans of the run were open. */
  #isEarly: boolean

  private constructor(scored: ScoredRun, scorer: ResolvedScorer, state: ScoringState) {
    this.scored = scored
    this.scorer = scorer
    this.isInline = state !== 'waiting'
    this.#isEarly = this.isInline && scored.scorable.hasOpenSpans
    this.#state = state
    scored.tasks.push(this)
  }

  /** The scorer is asked when the run is settled. */
  static waiting(scored: ScoredRun, scorer: ResolvedScorer): ScoringTask {
    return new ScoringTask(scored, scorer, 'waiting')
  }

  /** The scorer was asked while the agent's span was ending, and is still running. */
  static scoring(scored: ScoredRun, scorer: ResolvedScorer): ScoringTask {
    return new ScoringTask(scored, scorer, 'scoring')
  }

  /** The scorer scored the run while the agent's span was ending, and other spans are open. */
  static provisional(scored: ScoredRun, scorer: ResolvedScorer, run: AgentRun, evaluation: Evaluation): ScoringTask {
    const task = new ScoringTask(scored, scorer, 'provisional')
    task.#evaluated = { run, evaluation }
    return task
  }

  get state(): ScoringState {
    return this.#state
  }

  /** Whether a score is pending. */
  get isAwaited(): boolean {
    return this.#state !== 'provisional' && this.#state !== 'done'
  }

  /** The first evaluation, if any. Later ones are written but not counted again. */
  get evaluation(): Evaluation | undefined {
    return this.#evaluated?.evaluation
  }

  /** Changes the state; returns false without a change if the transition is not allowed, so that late events are ignored. */
  advance(state: ScoringState): boolean {
    if (!NEXT_STATES[this.#state].includes(state)) return false
    this.#state = state
    if (state === 'queued' || state === 'admitted') this.#isEarly = !this.scored.isSettled
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
    const isOpen = this.#isEarly && !this.scored.isSettled
    const isOutdated = this.#isEarly && !isOpen && this.isOutdated(readRun())
    this.#isEarly = false
    this.advance(isOpen ? 'provisional' : isOutdated ? 'queued' : 'done')
  }

  /** Whether the run has changed since it was evaluated. */
  isOutdated(current: AgentRun | undefined): boolean {
    if (current === undefined || this.#evaluated === undefined) return false
    const { run } = this.#evaluated
    return run === undefined ? current.revision > 1 : current !== run
  }

  /** Whether an evaluation differs from the first. */
  isNews({ score: second }: Evaluation): boolean {
    const first = this.#evaluated?.evaluation.score
    if (first === undefined || second.status !== first.status) return true
    if (second.status !== 'scored' || first.status !== 'scored') return false
    return second.value !== first.value || second.label !== first.label
  }

  /** Whether to write a result. An earlier score stays if its scorer could not be asked again. */
  isWorthWriting(evaluation: Evaluation, wasAsked: boolean): boolean {
    if (this.#evaluated === undefined) return true
    return wasAsked && (!this.isInline || this.isNews(evaluation))
  }
}

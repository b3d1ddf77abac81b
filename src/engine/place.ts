import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, Skipped } from '../model/score.ts'

/** A run for which another process asks a judge. */
export interface HandedRun {
  /** The run as the judge may see it, after `redact`. */
  readonly run: AgentRun
  /** The judge to ask. */
  readonly scorer: Evaluation['scorer']
  /** The rate that kept the run: its probability before any budget. */
  readonly rate: number
  /** The run's sample point between 0 and 1, which is below its rate. The rate after the budget is compared with it too. */
  readonly point: number
  /** The probability with which the tracer's sampler kept the run, if known. */
  readonly upstreamProbability: number | undefined
}

/** Where the scores of a run go. */
export interface ScorePlace {
  /** The span for the scores. */
  readonly target: SpanContext
  /** Whether a span waits for its scores. Judges then continue during a shutdown. */
  readonly isHeld: boolean
  /** Claims the span for a scorer; false if the span has its score already, or another processor has claimed it. */
  claim(scorer: Evaluation['scorer']): boolean
  /**
   * Writes one evaluation. Must not throw.
   *
   * @param run absent if the run was left out before it was read
   * @param isFirst false for a second evaluation of the run by one scorer, which is written but not counted again
   */
  write(evaluation: Evaluation, run: AgentRun | undefined, isFirst: boolean): void
  /** Called whenever the last pending score is in. */
  allIn(): void
  /**
   * Present if another process asks the judges. Called with each run that a judge's rate keeps. Resolves when the run is stored there, or to
   * the reason why it cannot be. Must not reject.
   */
  readonly handOver?: ((handed: HandedRun) => Promise<Skipped | undefined>) | undefined
}

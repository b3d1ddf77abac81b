import type { AgentRun } from '../../model/agent-run.ts'
import type { Evaluation } from '../../model/score.ts'

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

import type { SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'

/** Where the scores of a run go. */
export interface ScoreTarget {
  /** The span for the scores. */
  readonly spanContext: SpanContext
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
}

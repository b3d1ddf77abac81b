import type { SpanContext } from '@opentelemetry/api'

import type { ScoreAttributes } from '../../emit/score-attributes.ts'
import type { AgentRun } from '../../model/agent-run.ts'
import type { ScorableRun } from './scorable-run.ts'
import type { Evaluation } from '../../model/score.ts'
import { Place } from './admission.ts'
import type { HeldSpan } from '../deliver/held-spans.ts'
import type { ResolvedScorer } from '../config/options.ts'
import type { OpenSpan } from '../sdk-types.ts'
import { redactedBy } from './redacted-by.ts'

/** A run that has ended, on its way through the scorers. */
export class ScoredRun {
  readonly live: ScorableRun
  readonly target: SpanContext
  readonly place: Place
  /** Scorers that are asked once the run is settled. */
  readonly waiting: ResolvedScorer[] = []
  /** Scorers that were asked while spans of the run were open, and are asked again when they have ended. */
  readonly again: ResolvedScorer[] = []
  /** Scores that were given while spans of the run were open: asked for again when it is settled. */
  readonly provisional: { readonly scorer: ResolvedScorer; readonly rate: number; readonly evaluation: Evaluation }[] =
    []
  /** With what probability the tracer kept it, where the application says so or trusts tracestate to say it. */
  upstream: number | undefined
  /** Scores that are not in. */
  awaited = 0
  /** When the first of them was announced, as a flush counts time. */
  generation: number | undefined
  /** The live span while its `onEnding` runs: the one time that it can be written. */
  writable: OpenSpan | undefined
  /** Scores for the span that is handed to `next`, gathered until it is. */
  readonly forNext: ScoreAttributes = {}
  hasScoresForNext = false
  /** Whether the span has been handed on, or held. */
  isHandedOn = false
  held: HeldSpan | undefined
  /** Called when no score is awaited any more. */
  onAllIn: (() => void) | undefined
  /** The budget's factor for all judges of this run, taken once. */
  budgetFactor: number | undefined
  #redacted: { readonly of: AgentRun; readonly run: AgentRun } | undefined

  constructor(live: ScorableRun, target: SpanContext, sampleSalt: string | undefined) {
    this.live = live
    this.target = target
    this.place = new Place(live.traceId, sampleSalt)
  }

  /** What judges may see of the run. Redacted once for all of them; throws what `redact` throws, and where it gives no run. */
  redacted(run: AgentRun, redact: ((run: AgentRun) => AgentRun) | undefined): AgentRun {
    if (redact === undefined) return run
    if (this.#redacted?.of !== run) this.#redacted = { of: run, run: redactedBy(redact, run) }
    return this.#redacted.run
  }
}

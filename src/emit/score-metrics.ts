import type { MeterProvider } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import { notAPromise } from '../scoring/thenable.ts'
import type { ScoreAttributes } from './score-attributes.ts'
import { instrumentsOf } from './score-instruments.ts'
import type { Gauges, ScoreInstruments } from './score-instruments.ts'
import { positionInRange, ScoreTotals } from './score-totals.ts'

/**
 * The metrics of one processor. What can be summed is summed by us and observed when metrics are collected; only the two
 * histograms are recorded as scores come. Where no meter provider is registered yet, sums are kept until there is one: the
 * API has no proxy for meters, so that an instrument made too early would be a no-op for ever.
 */
export class ScoreMetrics {
  readonly #gauges: Gauges
  readonly #meterProvider: () => MeterProvider | undefined
  #known: { readonly provider: MeterProvider; readonly instruments: ScoreInstruments } | undefined
  #early: ScoreTotals | undefined

  /** @param meterProvider The one to write to, looked up at each emission. */
  constructor(gauges: Gauges, meterProvider: () => MeterProvider | undefined) {
    this.#gauges = gauges
    this.#meterProvider = meterProvider
  }

  /** Counts a run that is over. */
  countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    this.#totals(this.#instruments()).countRun(outcome, agentName)
  }

  /** Counts a run that a scorer left out by its fixed rate, before it was put together. */
  countLeftOut(scorer: Evaluation['scorer']): void {
    this.#totals(this.#instruments()).countLeftOut(scorer)
  }

  /** Counts an evaluation, and records its score and what its judge took. */
  record(evaluation: Evaluation, run: AgentRun | undefined, extra: ScoreAttributes): void {
    const { score, judge, durationMs } = evaluation
    const instruments = this.#instruments()
    const totals = this.#totals(instruments)
    const judged = judge && totals.countJudge(evaluation, judge)
    const tally = totals.count(evaluation, run, extra)
    // What is summed is summed by now: the instruments are the application's, and may throw.
    if (judged !== undefined) notAPromise(instruments?.judgeDuration.record(durationMs / 1000, judged))
    if (score.status !== 'scored') return
    notAPromise(instruments?.score.record(positionInRange(evaluation, score.value), tally.base))
  }

  /** The processor has ended: its gauges are no more. What was counted stays. */
  stop(): void {
    this.#known?.instruments.gauges.delete(this.#gauges)
  }

  #instruments(): ScoreInstruments | undefined {
    const provider = this.#meterProvider()
    if (provider === undefined || this.#known?.provider === provider) return provider && this.#known?.instruments
    this.stop()
    const instruments = instrumentsOf(provider)
    instruments.gauges.add(this.#gauges)
    this.#known = { provider, instruments }
    this.#early?.addTo(instruments.totals)
    this.#early = undefined
    return instruments
  }

  #totals(instruments: ScoreInstruments | undefined): ScoreTotals {
    if (instruments !== undefined) return instruments.totals
    this.#early ??= new ScoreTotals()
    return this.#early
  }
}

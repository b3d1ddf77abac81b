import type { MeterProvider } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import { positionInRange } from './position-in-range.ts'
import type { ScoreAttributes } from './score-attributes.ts'
import { instrumentsOf } from './score-instruments.ts'
import type { Gauges, ScoreInstruments } from './score-instruments.ts'
import { ScoreSums } from './score-sums.ts'

/** Milliseconds for which sums are gathered before the SDK gets them. */
const GATHER_MS = 1000

/** What the metrics of a processor depend on. */
export interface ScoreMetricsParts {
  readonly gauges: Gauges
  /** The one to write to, looked up at each emission. Never throws. */
  readonly meterProvider: () => MeterProvider | undefined
  /** Runs code of the provider, which may throw, or give a promise where a value is due; `undefined` where it did. */
  readonly guard: <Result>(what: string, run: () => Result) => Result | undefined
  /** Calls back once after so many milliseconds, in no application's context, without keeping the process alive. */
  readonly later: (run: () => void, ms: number) => void
}

/**
 * The metrics of one processor. Sums are gathered here and added to the SDK's counters together, within a second and before
 * every flush: a call into the SDK for each of them would cost more than a code scorer does. Where no meter provider is
 * registered yet, sums wait until there is one: the API has no proxy for meters, so that an instrument made too early would
 * be a no-op for ever.
 */
export class ScoreMetrics {
  readonly #parts: ScoreMetricsParts
  readonly #sums = new ScoreSums()
  #isStopped = false
  #known: { readonly provider: MeterProvider; instruments: ScoreInstruments | undefined } | undefined
  #isDue = false

  constructor(parts: ScoreMetricsParts) {
    this.#parts = parts
  }

  /** Counts a run that is over. */
  countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    this.#instruments()
    this.#sums.countRun(outcome, agentName)
    this.#arm()
  }

  /** Counts a run that a scorer left out by its fixed rate, before it was put together. */
  countLeftOut(scorer: Evaluation['scorer']): void {
    this.#instruments()
    this.#sums.countLeftOut(scorer)
    this.#arm()
  }

  /** Counts an evaluation, and records its score and what its judge took. */
  record(evaluation: Evaluation, run: AgentRun | undefined, extra: ScoreAttributes): void {
    const { score, judge, durationMs } = evaluation
    const instruments = this.#instruments()
    // What is summed is summed by now: the instruments are the application's, and may throw.
    const judged = judge && this.#sums.countJudge(evaluation, judge)
    const base = this.#sums.count(evaluation, run, extra)
    this.#arm()
    if (instruments === undefined) return
    if (judged !== undefined) this.#guard(() => instruments.judgeDuration.record(durationMs / 1000, judged))
    if (score.status !== 'scored') return
    const position = positionInRange(evaluation, score.value)
    this.#guard(() => instruments.score.record(position, base))
  }

  /** Hands what was gathered to the meter provider, if there is one. */
  flush(): void {
    if (this.#sums.gathered.isEmpty) return
    this.#instruments()
    this.#write()
  }

  /** The processor has ended: its gauges are removed, and what was counted stays. */
  stop(): void {
    this.flush()
    this.#isStopped = true
    this.#known?.instruments?.gauges.delete(this.#parts.gauges)
  }

  #instruments(): ScoreInstruments | undefined {
    const provider = this.#parts.meterProvider()
    if (provider === this.#known?.provider) return this.#known?.instruments
    // What was counted until now belongs to the provider that was there.
    if (this.#known !== undefined) {
      this.#write()
      this.#known.instruments?.gauges.delete(this.#parts.gauges)
    }
    this.#known = provider && { provider, instruments: this.#join(provider) }
    return this.#known?.instruments
  }

  #join(provider: MeterProvider): ScoreInstruments | undefined {
    const instruments = this.#guard(() => instrumentsOf(provider))
    instruments?.gauges.add(this.#parts.gauges)
    return instruments
  }

  /** What the provider refuses is lost: it cannot be known whether it was counted. */
  #write(): void {
    const known = this.#known
    if (known === undefined) return
    known.instruments ??= this.#join(known.provider)
    const { instruments } = known
    if (instruments === undefined) return
    this.#sums.gathered.drain(({ counter, attributes }, value) => {
      this.#guard(() => instruments.counters[counter].add(value, attributes))
    })
  }

  #arm(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#parts.later(() => {
      this.#isDue = false
      this.flush()
      // Without a provider it is looked for again as long as something waits for one.
      // A processor that has ended would otherwise wait for a meter provider for as long as the process lives.
      if (!this.#sums.gathered.isEmpty && !this.#isStopped) this.#arm()
    }, GATHER_MS)
  }

  #guard<Result>(run: () => Result): Result | undefined {
    return this.#parts.guard('The meter provider', run)
  }
}

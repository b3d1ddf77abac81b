import { TraceFlags } from '@opentelemetry/api'
import type { MeterProvider, SpanContext } from '@opentelemetry/api'

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, Scored } from '../model/score.ts'
import { AgentsSeen } from './agents-seen.ts'
import type { AlertSettings } from './alert-settings.ts'
import { FailingExamples } from './failing-examples.ts'
import { positionInRange } from './position-in-range.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import { MAX_NAME_LENGTH } from '../attributes/explanation-rules.ts'
import { instrumentsOf } from './score-instruments.ts'
import type { Gauges, Observation, Observers, ScoreInstruments } from './score-instruments.ts'
import { MetricSums } from './metric-sums.ts'
import type { ConversationOutcome } from './metric-sums.ts'
import { toolOfFinding } from './tool-of-finding.ts'

/** For how many milliseconds sums are gathered before they go to the SDK. */
const GATHER_MS = 1000

/** A scorer, as metrics describe it. */
interface MetricScorer {
  readonly id: string
  readonly alerts: AlertSettings
  readonly about: Pick<Evaluation['scorer'], 'better'>
  readonly scorer: { readonly description: string }
}

/** The part of an emission that metrics read. */
interface RecordedScore {
  readonly evaluation: Evaluation
  readonly run: AgentRun | undefined
  readonly extra: ScoreAttributes
  readonly target: SpanContext
}

/** What the metrics of a processor need. */
export interface ScoreMetricsParts {
  readonly gauges: Gauges
  /** The scorers, with the settings of their alerts. */
  readonly scorers: readonly MetricScorer[]
  /** Seconds without a run after which Prometheus alerts; absent if it does not. */
  readonly quietS?: number | undefined
  /** Whether traits of runs, what agents are made of, and examples of failing runs are shown: `emit.traits`. */
  readonly traits: boolean
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Looks up the meter provider, at each emission. Never throws. */
  readonly meterProvider: () => MeterProvider | undefined
  /** Runs code of the provider. The result is `undefined` if the code throws, or returns a promise instead of a value. */
  readonly guard: <Result>(what: string, run: () => Result) => Result | undefined
  /** Calls `run` once after so many milliseconds, in a clean async context, without keeping the process alive. */
  readonly later: (run: () => void, ms: number) => void
}

/**
 * The metrics of one processor. Sums are gathered here and added to the SDK's counters within a second and before every flush,
 * because one call into the SDK for each would cost more than a code scorer. If no meter provider is registered yet, the sums
 * wait for one: the API has no proxy for meters, so an instrument that is created too early would do nothing for ever.
 */
export class ScoreMetrics {
  readonly #parts: ScoreMetricsParts
  readonly #sums: MetricSums
  readonly #agents: AgentsSeen
  readonly #examples: FailingExamples
  readonly #observers: Observers
  /** The ids of scorers of which a single failing run alerts. */
  readonly #urgent: ReadonlySet<string>
  #isStopped = false
  #known: { readonly provider: MeterProvider; instruments: ScoreInstruments | undefined } | undefined
  #isDue = false

  constructor(parts: ScoreMetricsParts) {
    this.#parts = parts
    this.#sums = new MetricSums(parts.traits, parts.nowMs)
    this.#agents = new AgentsSeen(parts.nowMs)
    this.#examples = new FailingExamples(parts.nowMs)
    const alerts = new Map(parts.scorers.map(({ id, alerts: settings }) => [id, settings]))
    this.#urgent = new Set(
      parts.scorers.flatMap(({ id, alerts: { any_severity: any } }) => (any === undefined ? [] : [id])),
    )
    const infos = parts.scorers.map(toInfo)
    this.#observers = {
      setting: () => this.#sums.alertSettings(alerts, parts.quietS),
      scorer: () => infos,
      agent: () => this.#agents.observations(),
      example: () => this.#examples.observations(),
    }
  }

  /** Counts a run that has ended. */
  countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    this.#instruments()
    this.#sums.countRun(outcome, agentName)
    this.#arm()
  }

  /** Counts a conversation that is over, or a run that is in none. */
  countConversation(outcome: ConversationOutcome, agentName: string | undefined): void {
    this.#instruments()
    this.#sums.countConversation(outcome, agentName)
    this.#arm()
  }

  /** Counts a run that the fixed rate of a scorer left out before the run was reconstructed. */
  countLeftOut(scorer: Evaluation['scorer']): void {
    this.#instruments()
    this.#sums.countLeftOut(scorer)
    this.#arm()
  }

  /** Counts what a user says of an answer. It has no weight, and is no evaluation of a scorer. */
  countFeedback(name: string, label: string | undefined): void {
    this.#instruments()
    this.#sums.countFeedback(name, label)
    this.#arm()
  }

  /** Counts an evaluation, and records its score and the cost of its judge. */
  record({ evaluation, run, extra, target }: RecordedScore): void {
    const { score, calls, judge, durationMs } = evaluation
    const instruments = this.#instruments()
    // The sums are complete before this line, because the application's instruments may throw.
    const judged = judge && this.#sums.countJudge(evaluation, judge)
    const base = this.#sums.count(evaluation, run, extra)
    if (run !== undefined && score.status === 'scored') this.#show(evaluation, score, run, target)
    this.#arm()
    if (instruments === undefined) return
    if (judged !== undefined) this.#guard(() => instruments.judgeDuration.record(durationMs / 1000, judged))
    if (score.status !== 'scored') return
    const scores = calls?.map((call) => call.score) ?? [score]
    for (const each of scores) {
      if (each.status !== 'scored') continue
      const position = positionInRange(evaluation, each.value)
      this.#guard(() => instruments.score.record(position, base))
    }
  }

  #show({ scorer }: Evaluation, score: Scored, run: AgentRun, { traceId, traceFlags }: SpanContext): void {
    const isUrgent = this.#urgent.has(scorer.id)
    if (!this.#parts.traits && !isUrgent) return
    const agent = this.#sums.nameOf(run)
    if (this.#parts.traits && agent !== undefined) this.#agents.add(agent, run)
    // Nobody finds a trace that is not sampled.
    if (score.label !== 'fail' || (traceFlags & TraceFlags.SAMPLED) === 0) return
    const tool = isUrgent ? toolOfFinding(score, run)?.slice(0, MAX_NAME_LENGTH).toWellFormed() : undefined
    this.#examples.add(scorer.id, agent, { traceId, tool }, isUrgent)
  }

  /** Adds the gathered sums to the counters of the meter provider, if there is one. */
  flush(): void {
    if (this.#sums.gathered.isEmpty) return
    this.#instruments()
    this.#write()
  }

  /**
   * Lets collections of metrics wait until a shutdown is over. `NodeSDK.shutdown()` shuts the meter provider down in the same turn, which
   * collects for the last time.
   *
   * @param over must not reject
   */
  holdCollections(over: Promise<void>): void {
    this.flush()
    const shutdowns = this.#instruments()?.shutdowns
    if (shutdowns === undefined) return
    shutdowns.add(over)
    void over.then(() => shutdowns.delete(over))
  }

  /** Removes the gauges of this processor when it ends. What was counted stays. */
  stop(): void {
    this.flush()
    this.#isStopped = true
    this.#leave(this.#known?.instruments)
  }

  #instruments(): ScoreInstruments | undefined {
    const provider = this.#parts.meterProvider()
    if (provider === this.#known?.provider) return this.#known?.instruments
    // The sums so far belong to the provider that was there until now.
    if (this.#known !== undefined) {
      this.#write()
      this.#leave(this.#known.instruments)
    }
    this.#known = provider && { provider, instruments: this.#join(provider) }
    return this.#known?.instruments
  }

  #join(provider: MeterProvider): ScoreInstruments | undefined {
    const instruments = this.#guard(() => instrumentsOf(provider))
    instruments?.gauges.add(this.#parts.gauges)
    instruments?.observers.add(this.#observers)
    return instruments
  }

  #leave(instruments: ScoreInstruments | undefined): void {
    instruments?.gauges.delete(this.#parts.gauges)
    instruments?.observers.delete(this.#observers)
  }

  /** Writes the sums. If the provider throws, they are lost, because nobody knows whether they were counted. */
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
      // As long as sums wait, the provider is looked up again and again.
      // A processor that has ended must not wait for one until the process ends.
      if (!this.#sums.gathered.isEmpty && !this.#isStopped) this.#arm()
    }, GATHER_MS)
  }

  #guard<Result>(run: () => Result): Result | undefined {
    return this.#parts.guard('The meter provider', run)
  }
}

const MAX_DESCRIPTION = 200

function toInfo({ id, about, scorer }: MetricScorer): Observation {
  const attributes = {
    'gen_ai.evaluation.name': id,
    'spanscore.scorer.description': scorer.description.slice(0, MAX_DESCRIPTION),
    'spanscore.score.better': about.better,
  }
  return { attributes, value: 1 }
}

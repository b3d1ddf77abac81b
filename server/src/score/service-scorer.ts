import { diag, TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { CopiedAttributes, Emitter, OfferedRuns, ScoreMetrics } from 'spanscore/engine'
import type { AgentRun, Evaluation, OfferedRun as ScoredOffer, ScoringOptions } from 'spanscore/engine'

import type { Destination } from '../send/acknowledged-exporter.ts'
import { createServiceSignals } from '../send/service-signals.ts'
import type { GatheredRecords } from '../send/gathered-signals.ts'
import type { ServiceSignals } from '../send/service-signals.ts'
import { scoreIds } from './score-ids.ts'
import type { ScoreIds } from './score-ids.ts'
import type { OfferedRun, RunScorer } from './run-scorer.ts'

/** Services that have providers of their own. Beyond it the one that was not used for longest is closed. */
const MAX_SERVICES = 200

interface ServiceOutput {
  readonly signals: ServiceSignals
  readonly metrics: ScoreMetrics
  readonly emitter: Emitter
}

/** Called with each result of a scorer; the id is the run's. */
export type OnScore = (runId: string, ids: ScoreIds, evaluation: Evaluation) => void

/**
 * Scores runs, and writes what comes of it with the resource of the run's own service, so that scores are found where the
 * service's traces are.
 */
export class ServiceScorer implements RunScorer {
  readonly #outputs = new Map<string, ServiceOutput>()
  readonly #runs: OfferedRuns
  readonly #copied: CopiedAttributes
  readonly #metricsTo: Destination | undefined
  readonly #onScore: OnScore | undefined

  /**
   * @param metricsTo Where metrics go; `undefined` where they go nowhere.
   * @param onScore Sees each result as it is written.
   * @throws TypeError `<path>: expected …, got …`
   */
  constructor(options: ScoringOptions, metricsTo: Destination | undefined, onScore?: OnScore) {
    this.#metricsTo = metricsTo
    this.#onScore = onScore
    this.#runs = new OfferedRuns({
      options,
      write: (offered, evaluation, run, counted) => this.#write(offered, evaluation, run, counted),
      onLeftOut: ({ run }, scorer) => this.#outputOf(run).metrics.countLeftOut(scorer),
    })
    this.#copied = new CopiedAttributes(this.#runs.options.metricAttributes)
  }

  /** The configured scorers. */
  get scorers(): readonly { readonly id: string; readonly version: string }[] {
    return this.#runs.options.scorers.map(({ about: { id, version } }) => ({ id, version }))
  }

  /** Ids of the configured scorers. */
  get scorerIds(): readonly string[] {
    return this.#runs.options.scorers.map(({ id }) => id)
  }

  get isBusy(): boolean {
    return this.#runs.isBusy
  }

  /** Scores that wait for their turn. */
  get queued(): number {
    return this.#runs.queued
  }

  /** What became of the runs that were offered to each scorer. */
  ledger(): ReturnType<OfferedRuns['ledger']> {
    return this.#runs.ledger()
  }

  async offer({ run, spanIds, isCounted }: OfferedRun): Promise<void> {
    const offer: ScoredOffer = { run, spanIds, isCounted, target: targetOf(run) }
    if (isCounted) this.#outputOf(run).metrics.countRun('closed', run.agent.name)
    await this.#runs.offer(offer)
  }

  /** What was written for the service of a run since the last call. */
  take(run: AgentRun): GatheredRecords {
    return this.#outputOf(run).signals.records.take()
  }

  async shutdown(): Promise<void> {
    this.#runs.stop()
    await Promise.all([...this.#outputs.values()].map((output) => shutDown(output)))
  }

  #write(offered: ScoredOffer, evaluation: Evaluation, run: AgentRun | undefined, counted: boolean): void {
    const { emitter, signals } = this.#outputOf(offered.run)
    const { attributes, resource } = offered.run
    const { spanIds } = offered
    const { traceId, spanId } = offered.target
    const ids = scoreIds({ traceId, spanId }, evaluation.scorer, spanIds)
    signals.records.nextSpanId(ids.spanId)
    const revised = { ...evaluation, revision: spanIds.length }
    this.#onScore?.(`${traceId}:${spanId}`, ids, revised)
    emitter.emit({
      evaluation: revised,
      run,
      target: offered.target,
      endTime: toSeconds(offered.run.endTimeMs),
      isOnSpan: false,
      counted,
      extra: this.#copied.of({ attributes, resource: { attributes: resource } }),
      identity: { 'spanscore.score.key': ids.key, 'spanscore.score.id': ids.id },
    })
  }

  #outputOf({ resource }: AgentRun): ServiceOutput {
    const key = keyOf(resource)
    const known = this.#outputs.get(key)
    if (known !== undefined) {
      // The order of the map is the order of the latest use.
      this.#outputs.delete(key)
      this.#outputs.set(key, known)
      return known
    }
    const output = this.#createOutput(resource)
    this.#outputs.set(key, output)
    for (const [oldest, unused] of this.#outputs) {
      if (this.#outputs.size <= MAX_SERVICES) break
      this.#outputs.delete(oldest)
      void shutDown(unused)
    }
    return output
  }

  #createOutput(resource: Readonly<Record<string, unknown>>): ServiceOutput {
    const signals = createServiceSignals(resource, this.#metricsTo)
    const gauges = {
      queueSize: () => this.#runs.queued,
      openRuns: () => 0,
      heldSpans: () => 0,
      budgetUsedRatio: () => 0,
    }
    const metrics = new ScoreMetrics({
      gauges,
      meterProvider: () => signals.meterProvider,
      // The provider is the service's own: it throws nothing that ought to be hidden.
      guard: (_what, run) => run(),
      later: (run, ms) => void setTimeout(run, ms).unref(),
    })
    const providers = {
      tracerProvider: () => signals.records.tracerProvider,
      meterProvider: () => signals.meterProvider,
      loggerProvider: () => signals.records.loggerProvider,
    }
    const { emit } = this.#runs.options
    const emitter = new Emitter({
      options: emit,
      providers,
      metrics,
      nowMs: () => Date.now(),
      onError: (what) => diag.error(`${what} of the service threw; the signal was not written.`),
    })
    return { signals, metrics, emitter }
  }
}

/** The spans of a request share the object of their resource. */
const keys = new WeakMap<object, string>()

function keyOf(resource: Readonly<Record<string, unknown>>): string {
  const known = keys.get(resource)
  if (known !== undefined) return known
  const key = JSON.stringify(Object.entries(resource).toSorted(([left], [right]) => (left < right ? -1 : 1)))
  keys.set(resource, key)
  return key
}

/** What was gathered is written first. */
function shutDown({ metrics, signals }: ServiceOutput): Promise<void> {
  metrics.stop()
  return signals.shutdown()
}

function targetOf({ traceId, spanId }: AgentRun): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}

function toSeconds(ms: number): [number, number] {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

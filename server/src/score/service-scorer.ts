import { diag, TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { CopiedAttributes, Emitter, OfferedRuns, ScoreMetrics } from 'spanscore/engine'
import type { AgentRun, Evaluation, OfferedRun as ScoredOffer, ScoringOptions } from 'spanscore/engine'

import { GatheredSignals } from '../send/gathered-signals.ts'
import type { GatheredRecords } from '../send/gathered-signals.ts'
import { attributesOfService } from '../send/service-meters.ts'
import type { MeterOutput, ServiceMeters } from '../send/service-meters.ts'
import { toResource } from '../send/to-resource.ts'
import { LatestUsed } from './latest-used.ts'
import { scoreIds } from './score-ids.ts'
import type { ScoreIds } from './score-ids.ts'
import type { OfferedRun, RunScorer } from './run-scorer.ts'

/** Resources, and services, that have providers of their own. Beyond it the one that was not used for longest is closed. */
const MAX_SERVICES = 200

/** Log records and late spans with one resource: that of one process of a service. */
interface ResourceOutput {
  readonly records: GatheredSignals
  readonly emitter: Emitter
}

/** What is written for a service. All of its processes are counted together. */
interface ServiceOutput {
  readonly meters: MeterOutput
  readonly metrics: ScoreMetrics
  readonly resources: LatestUsed<ResourceOutput>
}

/** Called with each result of a scorer; the id is the run's. */
export type OnScore = (runId: string, ids: ScoreIds, evaluation: Evaluation) => void

/**
 * Scores runs, and writes what comes of it with the resource of the run's own service, so that scores are found where the
 * service's traces are.
 */
export class ServiceScorer implements RunScorer {
  readonly #outputs = new LatestUsed<ServiceOutput>({
    limit: MAX_SERVICES,
    isIdle: ({ resources }) => [...resources.values()].every(({ records }) => records.isEmpty),
    onDropped: (output) => void shutDown(output),
  })
  readonly #runs: OfferedRuns
  readonly #copied: CopiedAttributes
  readonly #meters: ServiceMeters
  readonly #onScore: OnScore | undefined

  /**
   * @param meters Where metrics go.
   * @param onScore Sees each result as it is written.
   * @throws TypeError `<path>: expected …, got …`
   */
  constructor(options: ScoringOptions, meters: ServiceMeters, onScore?: OnScore) {
    this.#meters = meters
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
    return this.#recordsOf(run).records.take()
  }

  async shutdown(): Promise<void> {
    this.#runs.stop()
    await Promise.all([...this.#outputs.values()].map((output) => shutDown(output)))
  }

  #write(offered: ScoredOffer, evaluation: Evaluation, run: AgentRun | undefined, counted: boolean): void {
    const { emitter, records } = this.#recordsOf(offered.run)
    const { attributes, resource } = offered.run
    const { spanIds } = offered
    const { traceId, spanId } = offered.target
    const ids = scoreIds({ traceId, spanId }, evaluation.scorer, spanIds)
    records.nextSpanId(ids.spanId)
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

  #recordsOf(run: AgentRun): ResourceOutput {
    const output = this.#outputOf(run)
    return output.resources.get(keyOf(run.resource), () => this.#createResourceOutput(run.resource, output))
  }

  #createResourceOutput(resource: AgentRun['resource'], { meters, metrics }: ServiceOutput): ResourceOutput {
    const records = new GatheredSignals(toResource(resource))
    const emitter = new Emitter({
      options: this.#runs.options.emit,
      providers: {
        tracerProvider: () => records.tracerProvider,
        meterProvider: () => meters.meterProvider,
        loggerProvider: () => records.loggerProvider,
      },
      metrics,
      nowMs: () => Date.now(),
      onError: (what) => diag.error(`${what} of the service threw; the signal was not written.`),
    })
    return { records, emitter }
  }

  #outputOf({ resource }: AgentRun): ServiceOutput {
    return this.#outputs.get(serviceKeyOf(resource), () => this.#createOutput(resource))
  }

  #createOutput(resource: AgentRun['resource']): ServiceOutput {
    const meters = this.#meters.create(resource)
    const metrics = new ScoreMetrics({
      gauges: {
        queueSize: () => this.#runs.queued,
        openRuns: () => 0,
        heldSpans: () => 0,
        budgetUsedRatio: () => 0,
      },
      meterProvider: () => meters.meterProvider,
      // The provider is the service's own: it throws nothing that ought to be hidden.
      guard: (_what, run) => run(),
      later: (run, ms) => void setTimeout(run, ms).unref(),
    })
    const resources = new LatestUsed<ResourceOutput>({
      limit: MAX_SERVICES,
      isIdle: ({ records }) => records.isEmpty,
    })
    return { meters, metrics, resources }
  }
}

/** The spans of a request share the object of their resource. */
const keys = new WeakMap<object, string>()
const serviceKeys = new WeakMap<object, string>()

function keyOf(resource: AgentRun['resource']): string {
  return remembered(keys, resource, () => textOf(resource))
}

function serviceKeyOf(resource: AgentRun['resource']): string {
  return remembered(serviceKeys, resource, () => textOf(attributesOfService(resource)))
}

function remembered(known: WeakMap<object, string>, resource: object, create: () => string): string {
  const key = known.get(resource) ?? create()
  known.set(resource, key)
  return key
}

function textOf(resource: AgentRun['resource']): string {
  return JSON.stringify(Object.entries(resource).toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

/** What was gathered is written first. */
function shutDown({ metrics, meters }: ServiceOutput): Promise<void> {
  metrics.stop()
  return meters.shutdown()
}

function targetOf({ traceId, spanId }: AgentRun): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true }
}

function toSeconds(ms: number): [number, number] {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

import type { SpanContext } from '@opentelemetry/api'
import { boundedResource, Emitter, ScoreMetrics } from 'spanscore/engine'
import type { AgentRun, CopiedAttributes, Evaluation, ResolvedOptions, SpanSet } from 'spanscore/engine'

import { GatheredScores, originOf } from '../send/gathered-scores.ts'
import type { GatheredRecords } from '../send/gathered-scores.ts'
import { attributesOfService } from '../send/service-meters.ts'
import type { MeterOutput, ServiceMeters } from '../send/service-meters.ts'
import { toResource } from '../send/to-resource.ts'
import { LatestUsed } from './latest-used.ts'

/** Maximum number of resources and services with their own providers. Above it, the least recently used one is closed. */
const MAX_SERVICES = 200

/** The resource attributes of a run's service. */
export type ServiceResource = AgentRun['resource']

/** Which signals are written, and what explanations may contain. */
export type EmitRules = ResolvedOptions['emit']

/** Attributes that the configuration copies to metrics and events. */
export type ExtraAttributes = ReturnType<CopiedAttributes['of']>

/** What is written for one evaluation. */
export interface WrittenScore {
  readonly evaluation: Evaluation
  /** Absent if the run was left out before it was read. */
  readonly run: AgentRun | undefined
  /** The span of the score. */
  readonly target: SpanContext
  /** When the run ended, in milliseconds since the epoch. */
  readonly endTimeMs: number
  /** The spans of the run, from which the ids of its scores follow. */
  readonly spans: SpanSet
  /** False for a later revision, which is written but not counted again. */
  readonly counted: boolean
  readonly extra: ExtraAttributes
}

/** What a process that scores can observe of itself. */
export interface ScoringGauges {
  /** Waiting scores. */
  readonly queueSize: () => number
  /** How much of the tightest limit of the budget is used, 0 to 1. */
  readonly budgetUsedRatio: () => number
}

/** The output of one service. All of its processes are counted together. */
interface ServiceOutput {
  readonly meters: MeterOutput
  readonly metrics: ScoreMetrics
  /** Each writes with the resource of one process of the service. */
  readonly emitters: LatestUsed<Emitter>
}

/** Writes scores with the resource of the run's own service, so that they are found beside its traces. */
export class ScoreOutputs {
  readonly #scores = new GatheredScores()
  readonly #outputs = new LatestUsed<ServiceOutput>(MAX_SERVICES, (output) => void shutDown(output))
  readonly #rules: EmitRules
  readonly #scored: Pick<ResolvedOptions, 'scorers' | 'quietS'>
  readonly #meters: ServiceMeters
  readonly #gauges: ScoringGauges

  /**
   * @param meters the destination of metrics
   * @param gauges the state of the process, which each service's metrics contain
   */
  constructor(
    { emit, scorers, quietS }: Pick<ResolvedOptions, 'emit' | 'scorers' | 'quietS'>,
    meters: ServiceMeters,
    gauges: ScoringGauges,
  ) {
    this.#rules = emit
    this.#scored = { scorers, ...(quietS !== undefined && { quietS }) }
    this.#meters = meters
    this.#gauges = gauges
  }

  /** Metrics of a service. */
  metricsOf(resource: ServiceResource): ScoreMetrics {
    return this.#outputOf(boundedResource(resource)).metrics
  }

  write(resource: ServiceResource, { endTimeMs, ...emission }: WrittenScore): void {
    this.#emitterOf(boundedResource(resource)).emit({
      ...emission,
      endTime: toSeconds(endTimeMs),
      isOnSpan: false,
    })
  }

  /** All records written since the last call. */
  take(): GatheredRecords {
    return this.#scores.take()
  }

  async shutdown(): Promise<void> {
    await Promise.all([...this.#outputs.values()].map((output) => shutDown(output)))
  }

  #emitterOf(resource: ServiceResource): Emitter {
    const { emitters, metrics } = this.#outputOf(resource)
    return emitters.get(keyOf(resource), () => this.#createEmitter(resource, metrics))
  }

  #createEmitter(resource: ServiceResource, metrics: ScoreMetrics): Emitter {
    const origin = originOf(toResource(resource))
    return new Emitter({
      options: this.#rules,
      sink: { takesEvents: () => true, write: (score) => this.#scores.add(origin, score) },
      metrics,
      nowMs: () => Date.now(),
    })
  }

  #outputOf(resource: ServiceResource): ServiceOutput {
    return this.#outputs.get(serviceKeyOf(resource), () => this.#createOutput(resource))
  }

  #createOutput(resource: ServiceResource): ServiceOutput {
    const meters = this.#meters.create(resource)
    const metrics = new ScoreMetrics({
      gauges: {
        ...this.#gauges,
        openRuns: () => 0,
        heldSpans: () => 0,
      },
      ...this.#scored,
      traits: this.#rules.traits,
      nowMs: () => Date.now(),
      meterProvider: () => meters.meterProvider,
      // The provider is the service's own, so nothing it throws needs to be suppressed.
      guard: (_what, run) => run(),
      later: (run, ms) => void setTimeout(run, ms).unref(),
    })
    return { meters, metrics, emitters: new LatestUsed<Emitter>(MAX_SERVICES) }
  }
}

/** Most spans of a process share one resource object. */
const keys = new WeakMap<object, string>()
const serviceKeys = new WeakMap<object, string>()

function keyOf(resource: ServiceResource): string {
  return remembered(keys, resource, () => textOf(resource))
}

function serviceKeyOf(resource: ServiceResource): string {
  return remembered(serviceKeys, resource, () => textOf(attributesOfService(resource)))
}

function remembered(known: WeakMap<object, string>, resource: object, create: () => string): string {
  const key = known.get(resource) ?? create()
  known.set(resource, key)
  return key
}

function textOf(resource: ServiceResource): string {
  return JSON.stringify(Object.entries(resource).toSorted(([left], [right]) => (left < right ? -1 : 1)))
}

/** Collected records are written first. */
function shutDown({ metrics, meters }: ServiceOutput): Promise<void> {
  metrics.stop()
  return meters.shutdown()
}

function toSeconds(ms: number): [number, number] {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

import type { SpanContext } from '@opentelemetry/api'
import { Emitter, ScoreMetrics } from 'spanscore/engine'
import type { AgentRun, CopiedAttributes, Evaluation, OfferedRuns } from 'spanscore/engine'

import { GatheredScores, originOf } from '../send/gathered-scores.ts'
import type { GatheredRecords } from '../send/gathered-scores.ts'
import { attributesOfService } from '../send/service-meters.ts'
import type { MeterOutput, ServiceMeters } from '../send/service-meters.ts'
import { toResource } from '../send/to-resource.ts'
import { LatestUsed } from './latest-used.ts'
import type { ScoreIds } from './score-ids.ts'

/** Resources, and services, that have providers of their own. Beyond it the one that was not used for longest is closed. */
const MAX_SERVICES = 200

/** Attributes of the resource of a run's service. */
export type ServiceResource = AgentRun['resource']

/** Which signals are written, and what explanations may hold. */
export type EmitRules = OfferedRuns['options']['emit']

/** Attributes that the configuration copies to metrics and events. */
export type ExtraAttributes = ReturnType<CopiedAttributes['of']>

/** What is written of one evaluation. */
export interface WrittenScore {
  readonly evaluation: Evaluation
  /** Absent where the run was left out before it was read. */
  readonly run: AgentRun | undefined
  /** The span that the score belongs to. */
  readonly target: SpanContext
  /** When the run ended: milliseconds since the epoch. */
  readonly endTimeMs: number
  readonly ids: ScoreIds
  /** False for a later revision, which is written and not counted again. */
  readonly counted: boolean
  readonly extra: ExtraAttributes
}

/** What is written for a service. All of its processes are counted together. */
interface ServiceOutput {
  readonly meters: MeterOutput
  readonly metrics: ScoreMetrics
  /** Each writes with the resource of one process of the service. */
  readonly emitters: LatestUsed<Emitter>
}

/** Where scores are written: with the resource of the run's own service, so that they are found where its traces are. */
export class ScoreOutputs {
  readonly #scores = new GatheredScores()
  readonly #outputs = new LatestUsed<ServiceOutput>(MAX_SERVICES, (output) => void shutDown(output))
  readonly #rules: EmitRules
  readonly #meters: ServiceMeters
  readonly #queued: () => number

  /**
   * @param meters Where metrics go.
   * @param queued Scores that wait for their turn.
   */
  constructor(rules: EmitRules, meters: ServiceMeters, queued: () => number) {
    this.#rules = rules
    this.#meters = meters
    this.#queued = queued
  }

  /** Metrics of a service. */
  metricsOf(resource: ServiceResource): ScoreMetrics {
    return this.#outputOf(resource).metrics
  }

  write(resource: ServiceResource, { ids, endTimeMs, ...emission }: WrittenScore): void {
    this.#emitterOf(resource).emit({
      ...emission,
      endTime: toSeconds(endTimeMs),
      isOnSpan: false,
      identity: {
        attributes: { 'spanscore.score.key': ids.key, 'spanscore.score.id': ids.id },
        spanId: ids.spanId,
      },
    })
  }

  /** What was written since the last call, whatever it was written with. */
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
        queueSize: this.#queued,
        openRuns: () => 0,
        heldSpans: () => 0,
        budgetUsedRatio: () => 0,
      },
      meterProvider: () => meters.meterProvider,
      // The provider is the service's own: it throws nothing that ought to be hidden.
      guard: (_what, run) => run(),
      later: (run, ms) => void setTimeout(run, ms).unref(),
    })
    return { meters, metrics, emitters: new LatestUsed<Emitter>(MAX_SERVICES) }
  }
}

/** Most spans of a process share the object of their resource. */
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

/** What was gathered is written first. */
function shutDown({ metrics, meters }: ServiceOutput): Promise<void> {
  metrics.stop()
  return meters.shutdown()
}

function toSeconds(ms: number): [number, number] {
  const seconds = Math.trunc(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}

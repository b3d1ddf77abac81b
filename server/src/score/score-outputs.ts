import { diag } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { Emitter, ScoreMetrics } from 'spanscore/engine'
import type { AgentRun, CopiedAttributes, Evaluation, OfferedRuns } from 'spanscore/engine'

import { GatheredSignals } from '../send/gathered-signals.ts'
import type { GatheredRecords } from '../send/gathered-signals.ts'
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

/** Where scores are written: with the resource of the run's own service, so that they are found where its traces are. */
export class ScoreOutputs {
  readonly #outputs = new LatestUsed<ServiceOutput>({
    limit: MAX_SERVICES,
    isIdle: ({ resources }) => [...resources.values()].every(({ records }) => records.isEmpty),
    onDropped: (output) => void shutDown(output),
  })
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
    const { emitter, records } = this.#recordsOf(resource)
    records.nextSpanId(ids.spanId)
    emitter.emit({
      ...emission,
      endTime: toSeconds(endTimeMs),
      isOnSpan: false,
      identity: { 'spanscore.score.key': ids.key, 'spanscore.score.id': ids.id },
    })
  }

  /** What was written with a resource since the last call. */
  take(resource: ServiceResource): GatheredRecords {
    return this.#recordsOf(resource).records.take()
  }

  async shutdown(): Promise<void> {
    await Promise.all([...this.#outputs.values()].map((output) => shutDown(output)))
  }

  #recordsOf(resource: ServiceResource): ResourceOutput {
    const output = this.#outputOf(resource)
    return output.resources.get(keyOf(resource), () => this.#createResourceOutput(resource, output))
  }

  #createResourceOutput(resource: ServiceResource, { meters, metrics }: ServiceOutput): ResourceOutput {
    const records = new GatheredSignals(toResource(resource))
    const emitter = new Emitter({
      options: this.#rules,
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

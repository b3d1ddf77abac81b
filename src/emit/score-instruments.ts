import type { Counter, Histogram, Meter, MeterProvider, MetricOptions } from '@opentelemetry/api'

import { globalSlot } from '../scoring/global-slot.ts'
import { COUNTERS } from './gathered-sums.ts'
import type { CounterName } from './gathered-sums.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import { SCOPE_NAME, SCOPE_VERSION } from './signal-providers.ts'

/** The gauges of one processor. They are read when metrics are collected. */
export interface Gauges {
  readonly queueSize: () => number
  readonly openRuns: () => number
  readonly heldSpans: () => number
  readonly budgetUsedRatio: () => number
}

/** One value of a gauge that has a series for each scorer or agent. */
export interface Observation {
  readonly attributes: ScoreAttributes
  readonly value: number
}

/** The gauges that have a series for each scorer or agent. */
const OBSERVED = {
  setting: [
    'spanscore.alert.setting',
    'Settings of the alerts on a scorer of an agent. Levels are positions; severities are 0 (off), 1 (ticket), 2 (page). `quiet` is of the service, in seconds.',
  ],
  scorer: ['spanscore.scorer.info', 'Always 1: what a scorer looks for, and which of its scores are better.'],
  agent: [
    'spanscore.agent.info',
    'Always 1: what an agent was made of in the last five minutes. Prompt and tools are hashes.',
  ],
  example: [
    'spanscore.example',
    'Always 1: the trace ids of the two latest failing runs of a scorer and agent, changed every five minutes at most; with `alerts.any` at once, and with the tool of the first bad finding.',
  ],
} as const

const OBSERVED_KEYS = ['setting', 'scorer', 'agent', 'example'] as const

/** What one processor observes for them. */
export type Observers = Readonly<Record<keyof typeof OBSERVED, () => Iterable<Observation>>>

/**
 * The instruments of one meter provider. All scoring processors that write to it share them, because an SDK keeps only one of two
 * observable gauges with the same name.
 */
export class ScoreInstruments {
  /** The gauges of all processors that have not ended. */
  readonly gauges: Set<Gauges> = new Set()
  /** What the same processors observe of scorers and agents. */
  readonly observers: Set<Observers> = new Set()
  /** Shutdowns that are under way. A collection of metrics waits for them, so that it has their last scores. */
  readonly shutdowns: Set<Promise<unknown>> = new Set()
  readonly score: Histogram
  readonly judgeDuration: Histogram
  readonly counters: Readonly<Record<CounterName, Counter>>

  constructor(provider: MeterProvider) {
    const meter = provider.getMeter(SCOPE_NAME, SCOPE_VERSION)
    const histogram = (name: string, options: MetricOptions): Histogram => meter.createHistogram(name, options)
    this.score = histogram('spanscore.score', {
      unit: '1',
      description: 'Position of the score in its range, 0 to 1, turned so that higher is better.',
      advice: { explicitBucketBoundaries: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1] },
    })
    this.judgeDuration = histogram('spanscore.judge.duration', {
      unit: 's',
      description: 'Time that all judge calls of one score took.',
      advice: { explicitBucketBoundaries: [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2] },
    })
    const counter = (name: CounterName): Counter => {
      const [metric, unit, description] = COUNTERS[name]
      return meter.createCounter(metric, { unit, description })
    }
    this.counters = {
      evaluations: counter('evaluations'),
      w: counter('w'),
      wy: counter('wy'),
      wy2: counter('wy2'),
      w2: counter('w2'),
      w2y: counter('w2y'),
      w2y2: counter('w2y2'),
      chosen: counter('chosen'),
      traits: counter('traits'),
      runs: counter('runs'),
      feedback: counter('feedback'),
      conversations: counter('conversations'),
      tokens: counter('tokens'),
      cost: counter('cost'),
    }
    this.#observeGauges(meter)
  }

  #observeGauges(meter: Meter): void {
    const gauges = [
      ['spanscore.queue.size', '{evaluation}', 'Evaluations that wait for their turn.', 'queueSize'],
      ['spanscore.open_runs', '{run}', 'Agent runs that are not closed.', 'openRuns'],
      ['spanscore.held_spans', '{span}', 'Agent spans that are held for their scores.', 'heldSpans'],
      ['spanscore.budget.used_ratio', '1', 'How much of the tightest budget is used.', 'budgetUsedRatio'],
    ] as const
    for (const [name, unit, description, key] of gauges) {
      const gauge = meter.createObservableGauge(name, { unit, description })
      gauge.addCallback((result) => {
        const values = [...this.gauges].map((each) => each[key]())
        if (values.length === 0) return undefined
        // The ratio is that of the tightest budget; the other gauges are sums.
        result.observe(key === 'budgetUsedRatio' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0))
        return this.shutdowns.size === 0 ? undefined : Promise.all(this.shutdowns).then(ignore)
      })
    }
    for (const key of OBSERVED_KEYS) {
      const [name, description] = OBSERVED[key]
      const gauge = meter.createObservableGauge(name, { description })
      gauge.addCallback((result) => {
        for (const observers of this.observers)
          for (const { value, attributes } of observers[key]()) result.observe(value, attributes)
      })
    }
  }
}

function ignore(): void {}

/** Shared by all copies of this version of the package. */
const byProvider = globalSlot(
  `metrics.${SCOPE_VERSION}`,
  () => new WeakMap<MeterProvider, ScoreInstruments>(),
  isWeakMap,
)

/** Returns the instruments of a meter provider, and creates them at the first call. Errors of the provider are thrown. */
export function instrumentsOf(provider: MeterProvider): ScoreInstruments {
  let instruments = byProvider.get(provider)
  if (instruments === undefined) {
    instruments = new ScoreInstruments(provider)
    byProvider.set(provider, instruments)
  }
  return instruments
}

function isWeakMap(value: unknown): value is WeakMap<MeterProvider, ScoreInstruments> {
  return value instanceof WeakMap
}

import type { Histogram, Meter, MeterProvider, ObservableResult } from '@opentelemetry/api'

import { globalSlot } from '../scoring/global-slot.ts'
import { notAPromise } from '../scoring/thenable.ts'
import { SCOPE_NAME, SCOPE_VERSION } from './signal-providers.ts'
import { ScoreTotals, SUMS } from './score-totals.ts'

/** Of one processor, read when metrics are collected. */
export interface Gauges {
  readonly queueSize: () => number
  readonly openRuns: () => number
  readonly heldSpans: () => number
  readonly budgetUsedRatio: () => number
}

const SUM_METRICS = {
  count: ['spanscore.evaluations', '{evaluation}', 'Evaluations by outcome, reason and label.'],
  w: ['spanscore.sum.w', '1', 'Sum of weights w = 1/probability over scored runs.'],
  wy: ['spanscore.sum.wy', '1', 'Sum of w·y, y the position of the score in its range, higher is better.'],
  wy2: ['spanscore.sum.wy2', '1', 'Sum of w·y².'],
  w2: ['spanscore.sum.w2', '1', 'Sum of w².'],
  w2y: ['spanscore.sum.w2y', '1', 'Sum of w²·y.'],
  w2y2: ['spanscore.sum.w2y2', '1', 'Sum of w²·y².'],
} as const

/**
 * The instruments of one meter provider, and the totals that they show: one set for all scoring processors that are told
 * of by it, now and after another, because an SDK that is given two counters of one name keeps one of the two.
 */
export class ScoreInstruments {
  readonly totals: ScoreTotals = new ScoreTotals()
  /** Of the processors that are at work. */
  readonly gauges: Set<Gauges> = new Set()
  readonly score: Histogram
  readonly judgeDuration: Histogram

  constructor(provider: MeterProvider) {
    const meter = notAPromise(provider.getMeter(SCOPE_NAME, SCOPE_VERSION))
    this.score = meter.createHistogram('spanscore.score', {
      unit: '1',
      description: 'Position of the score in its range, 0 to 1, turned so that higher is better.',
      advice: { explicitBucketBoundaries: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1] },
    })
    this.judgeDuration = meter.createHistogram('spanscore.judge.duration', {
      unit: 's',
      description: 'Time that all judge calls of one score took.',
      advice: { explicitBucketBoundaries: [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2] },
    })
    this.#observeTotals(meter)
    this.#observeGauges(meter)
  }

  #observeTotals(meter: Meter): void {
    for (const key of SUMS) {
      const [name, unit, description] = SUM_METRICS[key]
      meter.createObservableCounter(name, { unit, description }).addCallback((result) => {
        for (const tally of this.totals.tallies) {
          if (key === 'count') result.observe(tally.count, tally.outcome)
          else if (tally.w > 0) result.observe(tally[key], tally.labelled)
        }
      })
    }
    const { runs, tokens, cost } = this.totals
    const counters = [
      ['spanscore.runs', '{run}', 'Agent runs that were closed, or given up at a limit.', runs],
      ['spanscore.judge.tokens', '{token}', 'Tokens that judges took.', tokens],
      ['spanscore.judge.cost', '{USD}', 'What judges cost, where the price of their model is known.', cost],
    ] as const
    for (const [name, unit, description, series] of counters) {
      meter.createObservableCounter(name, { unit, description }).addCallback((result: ObservableResult) => {
        series.observe((value, attributes) => result.observe(value, attributes))
      })
    }
  }

  #observeGauges(meter: Meter): void {
    const gauges = [
      ['spanscore.queue.size', '{evaluation}', 'Evaluations that wait for their turn.', 'queueSize'],
      ['spanscore.open_runs', '{run}', 'Agent runs that are not closed.', 'openRuns'],
      ['spanscore.held_spans', '{span}', 'Agent spans that are held for their scores.', 'heldSpans'],
      ['spanscore.budget.used_ratio', '1', 'How much of the tightest budget is used.', 'budgetUsedRatio'],
    ] as const
    for (const [name, unit, description, key] of gauges) {
      meter.createObservableGauge(name, { unit, description }).addCallback((result) => {
        const values = [...this.gauges].map((each) => each[key]())
        if (values.length === 0) return
        // The tightest budget is the tightest of all; what waits is added up.
        result.observe(key === 'budgetUsedRatio' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0))
      })
    }
  }
}

/** Found by every copy of this version of the package. */
const byProvider = globalSlot(
  `metrics.${SCOPE_VERSION}`,
  () => new WeakMap<MeterProvider, ScoreInstruments>(),
  isWeakMap,
)

/** The instruments of a meter provider, made when they are first asked for. */
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

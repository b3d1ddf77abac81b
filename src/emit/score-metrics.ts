import type { Histogram, Meter, MeterProvider } from '@opentelemetry/api'

import type { AgentRun } from '../runs/agent-run.ts'
import type { Evaluation } from '../scoring/score.ts'
import { BoundedNames } from './bounded-names.ts'
import { CounterSeries } from './counter-series.ts'
import { SCOPE_NAME, SCOPE_VERSION } from './providers.ts'
import type { ScoreAttributes } from './score-attributes.ts'

/** Agents, and models, that metrics tell apart. */
const MAX_NAMES = 100

/** Read when metrics are collected. */
export interface Gauges {
  readonly queueSize: () => number
  readonly openRuns: () => number
  readonly heldSpans: () => number
  readonly budgetUsedRatio: () => number
}

interface Histograms {
  readonly score: Histogram
  readonly judgeDuration: Histogram
}

/** Counters whose values are summed here: name, unit, what they count. */
const COUNTERS = {
  evaluations: ['spanscore.evaluations', '{evaluation}', 'Evaluations by outcome, reason and label.'],
  runs: ['spanscore.runs', '{run}', 'Agent runs that were closed, or given up at a limit.'],
  tokens: ['spanscore.judge.tokens', '{token}', 'Tokens that judges took.'],
  cost: ['spanscore.judge.cost', '{USD}', 'What judges cost, where the price of their model is known.'],
  w: ['spanscore.sum.w', '1', 'Sum of weights w = 1/probability over scored runs.'],
  wy: ['spanscore.sum.wy', '1', 'Sum of w·y, y the position of the score in its range, higher is better.'],
  wy2: ['spanscore.sum.wy2', '1', 'Sum of w·y².'],
  w2: ['spanscore.sum.w2', '1', 'Sum of w².'],
  w2y: ['spanscore.sum.w2y', '1', 'Sum of w²·y.'],
  w2y2: ['spanscore.sum.w2y2', '1', 'Sum of w²·y².'],
} as const

/**
 * The metrics of DESIGN's table. Counters are observed, only the two histograms are recorded as scores come. Instruments are
 * made once for each meter provider that is seen: the API has no proxy for meters, so that one made too early would be
 * a no-op for ever.
 */
export class ScoreMetrics {
  readonly #gauges: Gauges
  readonly #series: Readonly<Record<keyof typeof COUNTERS, CounterSeries>>
  readonly #histograms = new WeakMap<MeterProvider, Histograms>()
  readonly #agents = new BoundedNames(MAX_NAMES)
  readonly #models = new BoundedNames(MAX_NAMES)

  constructor(gauges: Gauges) {
    this.#gauges = gauges
    this.#series = {
      evaluations: new CounterSeries(),
      runs: new CounterSeries(),
      tokens: new CounterSeries(),
      cost: new CounterSeries(),
      w: new CounterSeries(),
      wy: new CounterSeries(),
      wy2: new CounterSeries(),
      w2: new CounterSeries(),
      w2y: new CounterSeries(),
      w2y2: new CounterSeries(),
    }
  }

  /** Makes the instruments on a meter provider, if that is not done yet. */
  attach(provider: MeterProvider | undefined): void {
    if (provider) this.#histogramsOf(provider)
  }

  /** Counts a run that is over. */
  countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    this.#series.runs.add(1, { 'spanscore.outcome': outcome, ...this.#agent(agentName) })
  }

  /** Counts an evaluation, and records its score and what its judge took. */
  record(
    evaluation: Evaluation,
    run: AgentRun | undefined,
    extra: ScoreAttributes,
    provider: MeterProvider | undefined,
  ): void {
    const { score, scorer, probability } = evaluation
    const base: ScoreAttributes = {
      ...extra,
      'gen_ai.evaluation.name': scorer.id,
      ...this.#agent(run?.agent.name),
    }
    const counted: ScoreAttributes = { ...base, 'spanscore.scorer.version': scorer.version }
    const model = run?.models[0]
    if (model !== undefined) counted['gen_ai.request.model'] = this.#models.of(model)
    this.#recordJudge(evaluation, provider)
    if (score.status !== 'scored') {
      const reason = score.status === 'skipped' ? score.reason : score.code
      this.#series.evaluations.add(1, { ...counted, 'spanscore.outcome': score.status, 'spanscore.reason': reason })
      return
    }
    const labelled = { ...counted, 'gen_ai.evaluation.score.label': score.label }
    this.#series.evaluations.add(1, { ...labelled, 'spanscore.outcome': 'scored' })
    const y = positionInRange(evaluation, score.value)
    if (provider) this.#histogramsOf(provider).score.record(y, base)
    // Where the probability is not known the run has no weight: an unknown one is not 1.
    if (probability === undefined || probability <= 0) return
    const w = 1 / probability
    this.#series.w.add(w, labelled)
    this.#series.wy.add(w * y, labelled)
    this.#series.wy2.add(w * y * y, labelled)
    this.#series.w2.add(w * w, labelled)
    this.#series.w2y.add(w * w * y, labelled)
    this.#series.w2y2.add(w * w * y * y, labelled)
  }

  #recordJudge({ scorer, judge, durationMs }: Evaluation, provider: MeterProvider | undefined): void {
    if (!judge) return
    const attributes: ScoreAttributes = {
      'gen_ai.evaluation.name': scorer.id,
      'gen_ai.request.model': this.#models.of(judge.model),
    }
    if (provider) this.#histogramsOf(provider).judgeDuration.record(durationMs / 1000, attributes)
    const { inputTokens = 0, outputTokens = 0 } = judge.usage
    this.#series.tokens.add(inputTokens, { ...attributes, 'gen_ai.token.type': 'input' })
    this.#series.tokens.add(outputTokens, { ...attributes, 'gen_ai.token.type': 'output' })
    if (judge.costUsd !== undefined) this.#series.cost.add(judge.costUsd, attributes)
  }

  #agent(name: string | undefined): ScoreAttributes {
    return name === undefined ? {} : { 'gen_ai.agent.name': this.#agents.of(name) }
  }

  #histogramsOf(provider: MeterProvider): Histograms {
    const known = this.#histograms.get(provider)
    if (known) return known
    const meter = provider.getMeter(SCOPE_NAME, SCOPE_VERSION)
    this.#observe(meter)
    const histograms: Histograms = {
      score: meter.createHistogram('spanscore.score', {
        unit: '1',
        description: 'Position of the score in its range, 0 to 1, turned so that higher is better.',
        advice: { explicitBucketBoundaries: [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1] },
      }),
      judgeDuration: meter.createHistogram('spanscore.judge.duration', {
        unit: 's',
        description: 'Time that all judge calls of one score took.',
        advice: { explicitBucketBoundaries: [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2] },
      }),
    }
    this.#histograms.set(provider, histograms)
    return histograms
  }

  #observe(meter: Meter): void {
    for (const key of Object.keys(COUNTERS)) {
      if (!isCounterKey(key)) continue
      const [name, unit, description] = COUNTERS[key]
      meter.createObservableCounter(name, { unit, description }).addCallback((result) => {
        this.#series[key].observe((value, attributes) => result.observe(value, attributes))
      })
    }
    const { queueSize, openRuns, heldSpans, budgetUsedRatio } = this.#gauges
    const gauges = [
      ['spanscore.queue.size', '{evaluation}', 'Evaluations that wait for their turn.', queueSize],
      ['spanscore.open_runs', '{run}', 'Agent runs that are not closed.', openRuns],
      ['spanscore.held_spans', '{span}', 'Agent spans that are held for their scores.', heldSpans],
      ['spanscore.budget.used_ratio', '1', 'How much of the tightest budget is used.', budgetUsedRatio],
    ] as const
    for (const [name, unit, description, read] of gauges) {
      meter.createObservableGauge(name, { unit, description }).addCallback((result) => result.observe(read()))
    }
  }
}

/** The score's position in its range, 0 to 1, turned so that higher is better. */
export function positionInRange({ scorer }: Evaluation, value: number): number {
  const [low, high] = scorer.range
  const position = (value - low) / (high - low)
  return scorer.better === 'higher' ? position : 1 - position
}

function isCounterKey(key: string): key is keyof typeof COUNTERS {
  return key in COUNTERS
}

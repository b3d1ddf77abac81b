import type { Histogram, Meter, MeterProvider } from '@opentelemetry/api'

import type { AgentRun } from '../runs/agent-run.ts'
import type { Evaluation, JudgeReport } from '../scoring/score.ts'
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

/** What is summed for each set of attributes of an evaluation, and the instruments that show it. */
const SUMS = {
  count: ['spanscore.evaluations', '{evaluation}', 'Evaluations by outcome, reason and label.'],
  w: ['spanscore.sum.w', '1', 'Sum of weights w = 1/probability over scored runs.'],
  wy: ['spanscore.sum.wy', '1', 'Sum of w·y, y the position of the score in its range, higher is better.'],
  wy2: ['spanscore.sum.wy2', '1', 'Sum of w·y².'],
  w2: ['spanscore.sum.w2', '1', 'Sum of w².'],
  w2y: ['spanscore.sum.w2y', '1', 'Sum of w²·y.'],
  w2y2: ['spanscore.sum.w2y2', '1', 'Sum of w²·y².'],
} as const

type Sums = Record<keyof typeof SUMS, number>

/** One set of attributes of an evaluation. */
interface Tally extends Sums {
  readonly outcome: ScoreAttributes
  /** The same without outcome and reason: what the sums are told apart by. */
  readonly labelled: ScoreAttributes
  readonly base: ScoreAttributes
}

interface LatestTally {
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly outcome: string
  readonly detail: string
  readonly tally: Tally
}

/** As the SDK's own default limit for one instrument; the sets past it are summed in one. */
const MAX_TALLIES = 2000

/** Told by identity: most applications copy no attributes, and their keys are not to be looked through each time. */
export const NO_ATTRIBUTES: ScoreAttributes = Object.freeze({})

/**
 * The metrics of one processor. What can be summed is summed here and observed when metrics are collected; only the two
 * histograms are recorded as scores come. Instruments are made once for each meter provider that is seen: the API has no
 * proxy for meters, so that one made too early would be a no-op for ever.
 */
export class ScoreMetrics {
  readonly #gauges: Gauges
  readonly #tallies = new Map<string, Tally>()
  /** Each scorer's latest: most runs of an application are of few agents, and a key need not be put together again. */
  readonly #latest = new Map<string, LatestTally>()
  /** The tallies of runs that no fixed rate keeps: most runs, under sampling. */
  readonly #leftOut = new Map<Evaluation['scorer'], Tally>()
  readonly #runs = { closed: new CounterSeries(), evicted: new CounterSeries() }
  readonly #tokens = new CounterSeries()
  readonly #cost = new CounterSeries()
  readonly #histograms = new WeakMap<MeterProvider, Histograms>()
  readonly #agents = new BoundedNames(MAX_NAMES)
  readonly #models = new BoundedNames(MAX_NAMES)

  constructor(gauges: Gauges) {
    this.#gauges = gauges
  }

  /** Counts a run that is over. */
  countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    const agent = agentName === undefined ? undefined : this.#agents.of(agentName)
    const attributes = () => ({ 'spanscore.outcome': outcome, ...agentAttribute(agent) })
    this.#runs[outcome].add(1, agent ?? '', attributes)
  }

  /** Counts a run that a scorer left out by its fixed rate, before it was put together. */
  countLeftOut(scorer: Evaluation['scorer']): void {
    let tally = this.#leftOut.get(scorer)
    if (tally === undefined) {
      tally = this.#tally(scorer, undefined, undefined, 'skipped', 'sampled-out', NO_ATTRIBUTES)
      this.#leftOut.set(scorer, tally)
    }
    tally.count += 1
  }

  /** Counts an evaluation, and records its score and what its judge took. */
  record(
    evaluation: Evaluation,
    run: AgentRun | undefined,
    extra: ScoreAttributes,
    provider: MeterProvider | undefined,
  ): void {
    const { score, scorer, probability } = evaluation
    if (evaluation.judge !== undefined) this.#recordJudge(evaluation, evaluation.judge, provider)
    const agentName = run?.agent.name
    const agent = agentName === undefined ? undefined : this.#agents.of(agentName)
    const modelName = run?.models[0]
    const model = modelName === undefined ? undefined : this.#models.of(modelName)
    if (score.status !== 'scored') {
      const reason = score.status === 'skipped' ? score.reason : score.code
      this.#tally(scorer, agent, model, score.status, reason, extra).count += 1
      return
    }
    const tally = this.#tally(scorer, agent, model, 'scored', score.label, extra)
    tally.count += 1
    const y = positionInRange(evaluation, score.value)
    if (provider) this.#histogramsOf(provider).score.record(y, tally.base)
    // Where the probability is not known the run has no weight: an unknown one is not 1.
    if (probability === undefined || probability <= 0) return
    const w = 1 / probability
    tally.w += w
    tally.wy += w * y
    tally.wy2 += w * y * y
    tally.w2 += w * w
    tally.w2y += w * w * y
    tally.w2y2 += w * w * y * y
  }

  #tally(
    { id, version }: Evaluation['scorer'],
    agent: string | undefined,
    model: string | undefined,
    outcome: 'scored' | 'skipped' | 'failed',
    detail: string,
    extra: ScoreAttributes,
  ): Tally {
    const latest = extra === NO_ATTRIBUTES ? this.#latest.get(id) : undefined
    if (
      latest !== undefined &&
      latest.agent === agent &&
      latest.model === model &&
      latest.outcome === outcome &&
      latest.detail === detail
    ) {
      return latest.tally
    }
    const tally = this.#tallyOf(id, version, agent, model, outcome, detail, extra)
    if (extra === NO_ATTRIBUTES) this.#latest.set(id, { agent, model, outcome, detail, tally })
    return tally
  }

  #tallyOf(
    id: string,
    version: string,
    agent: string | undefined,
    model: string | undefined,
    outcome: 'scored' | 'skipped' | 'failed',
    detail: string,
    extra: ScoreAttributes,
  ): Tally {
    const more = extra === NO_ATTRIBUTES ? '' : JSON.stringify(extra)
    const key = `${id}\n${outcome}\n${detail}\n${agent}\n${model}\n${more}`
    const known = this.#tallies.get(key)
    if (known) return known
    if (this.#tallies.size >= MAX_TALLIES) return this.#overflow()
    const base = { ...extra, 'gen_ai.evaluation.name': id, ...agentAttribute(agent) }
    const counted: ScoreAttributes = { ...base, 'spanscore.scorer.version': version }
    if (model !== undefined) counted['gen_ai.request.model'] = model
    const labelled = outcome === 'scored' ? { ...counted, 'gen_ai.evaluation.score.label': detail } : counted
    const reason = outcome === 'scored' ? {} : { 'spanscore.reason': detail }
    const tally = newTally(base, labelled, { ...labelled, 'spanscore.outcome': outcome, ...reason })
    this.#tallies.set(key, tally)
    return tally
  }

  #overflow(): Tally {
    const attributes = { 'otel.metric.overflow': true }
    const overflow = this.#tallies.get('overflow') ?? newTally(attributes, attributes, attributes)
    this.#tallies.set('overflow', overflow)
    return overflow
  }

  #recordJudge({ scorer, durationMs }: Evaluation, judge: JudgeReport, provider: MeterProvider | undefined): void {
    const model = this.#models.of(judge.model)
    const attributes: ScoreAttributes = { 'gen_ai.evaluation.name': scorer.id, 'gen_ai.request.model': model }
    if (provider) this.#histogramsOf(provider).judgeDuration.record(durationMs / 1000, attributes)
    const key = `${scorer.id}\n${model}`
    const { inputTokens = 0, outputTokens = 0 } = judge.usage
    this.#tokens.add(inputTokens, `${key}\ninput`, () => ({ ...attributes, 'gen_ai.token.type': 'input' }))
    this.#tokens.add(outputTokens, `${key}\noutput`, () => ({ ...attributes, 'gen_ai.token.type': 'output' }))
    if (judge.costUsd !== undefined) this.#cost.add(judge.costUsd, key, () => attributes)
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
    for (const key of SUM_KEYS) {
      const [name, unit, description] = SUMS[key]
      meter.createObservableCounter(name, { unit, description }).addCallback((result) => {
        for (const tally of this.#tallies.values()) {
          if (key === 'count') result.observe(tally.count, tally.outcome)
          else if (tally.w > 0) result.observe(tally[key], tally.labelled)
        }
      })
    }
    const counters = [
      [
        'spanscore.runs',
        '{run}',
        'Agent runs that were closed, or given up at a limit.',
        [this.#runs.closed, this.#runs.evicted],
      ],
      ['spanscore.judge.tokens', '{token}', 'Tokens that judges took.', [this.#tokens]],
      ['spanscore.judge.cost', '{USD}', 'What judges cost, where the price of their model is known.', [this.#cost]],
    ] as const
    for (const [name, unit, description, all] of counters) {
      meter.createObservableCounter(name, { unit, description }).addCallback((result) => {
        for (const series of all) series.observe((value, attributes) => result.observe(value, attributes))
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

const SUM_KEYS = ['count', 'w', 'wy', 'wy2', 'w2', 'w2y', 'w2y2'] as const

function newTally(base: ScoreAttributes, labelled: ScoreAttributes, outcome: ScoreAttributes): Tally {
  return { base, labelled, outcome, count: 0, w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }
}

function agentAttribute(agent: string | undefined): ScoreAttributes {
  return agent === undefined ? {} : { 'gen_ai.agent.name': agent }
}

import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation, JudgeReport } from '../model/score.ts'
import { BoundedNames } from './bounded-names.ts'
import { CounterSeries } from './counter-series.ts'
import type { ScoreAttributes } from './score-attributes.ts'

/** Agents, and models, that metrics tell apart. */
const MAX_NAMES = 100

/** As the SDK's own default limit for one instrument; the sets past it are summed in one. */
const MAX_TALLIES = 2000

/** Told by identity: most applications copy no attributes, and their keys are not to be looked through each time. */
export const NO_ATTRIBUTES: ScoreAttributes = Object.freeze({})

/** What is summed for each set of attributes of an evaluation. */
export interface Sums {
  count: number
  w: number
  wy: number
  wy2: number
  w2: number
  w2y: number
  w2y2: number
}

/** One set of attributes of an evaluation, and its sums. */
export interface Tally extends Sums {
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

/** What the metrics of evaluations, runs and judges have come to. Only sums: histograms are the SDK's. */
export class ScoreTotals {
  readonly #tallies = new Map<string, Tally>()
  /** Each scorer's latest: most runs of an application are of few agents, and a key need not be put together again. */
  readonly #latest = new Map<string, LatestTally>()
  /** The tallies of runs that no fixed rate keeps: most runs, under sampling. */
  readonly #leftOut = new WeakMap<Evaluation['scorer'], Tally>()
  readonly #agents = new BoundedNames(MAX_NAMES)
  readonly #models = new BoundedNames(MAX_NAMES)
  readonly runs: CounterSeries = new CounterSeries()
  readonly tokens: CounterSeries = new CounterSeries()
  readonly cost: CounterSeries = new CounterSeries()

  get tallies(): Iterable<Tally> {
    return this.#tallies.values()
  }

  countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    const agent = agentName === undefined ? undefined : this.#agents.of(agentName)
    this.runs.add(1, `${outcome}\n${agent}`, () => ({ 'spanscore.outcome': outcome, ...agentAttribute(agent) }))
  }

  countLeftOut(scorer: Evaluation['scorer']): void {
    let tally = this.#leftOut.get(scorer)
    if (tally === undefined) {
      tally = this.#tally(scorer, undefined, undefined, 'skipped', 'sampled-out', NO_ATTRIBUTES)
      this.#leftOut.set(scorer, tally)
    }
    tally.count += 1
  }

  /** Counts an evaluation; of one that scored, also with its weight, where that is known. */
  count(evaluation: Evaluation, run: AgentRun | undefined, extra: ScoreAttributes): Tally {
    const { score, scorer, probability } = evaluation
    const agentName = run?.agent.name
    const agent = agentName === undefined ? undefined : this.#agents.of(agentName)
    const modelName = run?.models[0]
    const model = modelName === undefined ? undefined : this.#models.of(modelName)
    if (score.status !== 'scored') {
      const reason = score.status === 'skipped' ? score.reason : score.code
      const tally = this.#tally(scorer, agent, model, score.status, reason, extra)
      tally.count += 1
      return tally
    }
    const tally = this.#tally(scorer, agent, model, 'scored', score.label, extra)
    tally.count += 1
    // Where the probability is not known the run has no weight: an unknown one is not 1.
    if (probability === undefined || probability <= 0) return tally
    const y = positionInRange(evaluation, score.value)
    const w = 1 / probability
    tally.w += w
    tally.wy += w * y
    tally.wy2 += w * y * y
    tally.w2 += w * w
    tally.w2y += w * w * y
    tally.w2y2 += w * w * y * y
    return tally
  }

  /** Counts what a judge took; gives the attributes of its duration. */
  countJudge({ scorer }: Evaluation, judge: JudgeReport): ScoreAttributes {
    const model = this.#models.of(judge.model)
    const attributes: ScoreAttributes = { 'gen_ai.evaluation.name': scorer.id, 'gen_ai.request.model': model }
    const key = `${scorer.id}\n${model}`
    const { inputTokens = 0, outputTokens = 0 } = judge.usage
    this.tokens.add(inputTokens, `${key}\ninput`, () => ({ ...attributes, 'gen_ai.token.type': 'input' }))
    this.tokens.add(outputTokens, `${key}\noutput`, () => ({ ...attributes, 'gen_ai.token.type': 'output' }))
    if (judge.costUsd !== undefined) this.cost.add(judge.costUsd, key, () => attributes)
    return attributes
  }

  /** Adds all that was counted here to other totals, perhaps of another copy of the package. */
  addTo(other: ScoreTotals): void {
    for (const [key, tally] of this.#tallies) other.addTally(key, tally)
    this.runs.addTo(other.runs)
    this.tokens.addTo(other.tokens)
    this.cost.addTo(other.cost)
  }

  addTally(key: string, from: Tally): void {
    const tally = this.#tallies.get(key) ?? this.#newTally(key, () => from)
    for (const sum of SUMS) tally[sum] += from[sum]
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
      latest.detail === detail &&
      latest.tally.labelled['spanscore.scorer.version'] === version
    ) {
      return latest.tally
    }
    const more = extra === NO_ATTRIBUTES ? '' : JSON.stringify(extra)
    const key = `${id}\n${version}\n${outcome}\n${detail}\n${agent}\n${model}\n${more}`
    const tally =
      this.#tallies.get(key) ??
      this.#newTally(key, () => attributesOf({ id, version, agent, model, outcome, detail, extra }))
    if (extra === NO_ATTRIBUTES) this.#latest.set(id, { agent, model, outcome, detail, tally })
    return tally
  }

  #newTally(key: string, attributes: () => Pick<Tally, 'base' | 'labelled' | 'outcome'>): Tally {
    if (this.#tallies.size >= MAX_TALLIES) return this.#overflow()
    const { base, labelled, outcome } = attributes()
    const tally: Tally = { base, labelled, outcome, count: 0, w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }
    this.#tallies.set(key, tally)
    return tally
  }

  #overflow(): Tally {
    const all = { 'otel.metric.overflow': true }
    const known = this.#tallies.get('overflow')
    if (known !== undefined) return known
    const overflow = { base: all, labelled: all, outcome: all, count: 0, w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }
    this.#tallies.set('overflow', overflow)
    return overflow
  }
}

/** The names of the sums, in the order of the formulas that they serve. */
export const SUMS = ['count', 'w', 'wy', 'wy2', 'w2', 'w2y', 'w2y2'] as const

/** The score's position in its range, 0 to 1, turned so that higher is better. */
export function positionInRange({ scorer }: Evaluation, value: number): number {
  const [low, high] = scorer.range
  const position = (value - low) / (high - low)
  return scorer.better === 'higher' ? position : 1 - position
}

interface Counted {
  readonly id: string
  readonly version: string
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly outcome: 'scored' | 'skipped' | 'failed'
  readonly detail: string
  readonly extra: ScoreAttributes
}

function attributesOf(counted: Counted): Pick<Tally, 'base' | 'labelled' | 'outcome'> {
  const { id, version, agent, model, outcome, detail, extra } = counted
  const base = { ...extra, 'gen_ai.evaluation.name': id, ...agentAttribute(agent) }
  const all: ScoreAttributes = { ...base, 'spanscore.scorer.version': version }
  if (model !== undefined) all['gen_ai.request.model'] = model
  const labelled = outcome === 'scored' ? { ...all, 'gen_ai.evaluation.score.label': detail } : all
  const reason = outcome === 'scored' ? {} : { 'spanscore.reason': detail }
  return { base, labelled, outcome: { ...labelled, 'spanscore.outcome': outcome, ...reason } }
}

function agentAttribute(agent: string | undefined): ScoreAttributes {
  return agent === undefined ? {} : { 'gen_ai.agent.name': agent }
}

import type { AgentRun } from '../model/agent-run.ts'
import type { CallScore, Evaluation, JudgeReport } from '../model/score.ts'
import { isLost, weightOf } from '../sampling/weight.ts'
import { callsAt } from '../scoring/call-scores.ts'
import type { AlertSettings } from './alert-settings.ts'
import { BoundedNames } from './bounded-names.ts'
import { GatheredSums } from './gathered-sums.ts'
import type { Cell, CounterName } from './gathered-sums.ts'
import { positionInRange } from './position-in-range.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import type { Observation } from './score-instruments.ts'
import { TraitSums } from './trait-sums.ts'

/** How many agents, and how many models, metrics keep apart. */
const MAX_NAMES = 100

/** How many judge models of one scorer metrics keep apart. */
const MAX_JUDGE_MODELS = 20

/** How many labels of feedback metrics keep apart. */
const MAX_LABELS = 20

/** How many sets of attributes are kept. The SDK's own limit for one instrument, 2,000 by default, is lower. */
const MAX_SETS = 10_000

/** Compared by identity: most applications copy no attributes, so that nothing has to be compared for each run. */
export const NO_ATTRIBUTES: Readonly<ScoreAttributes> = {}

/** The cells of the sums over scored runs. */
interface ScoredCells {
  readonly pass: Cell
  readonly fail: Cell
  readonly wy: Cell
  readonly wy2: Cell
  readonly w2Pass: Cell
  readonly w2Fail: Cell
  readonly w2y: Cell
  readonly w2y2: Cell
}

/** The cells of one scorer (version, judge model), agent and model. */
interface Group {
  /** With the scorer's version, the judge's model and the agent's model. */
  readonly attributes: ScoreAttributes
  /** The attributes without these three. */
  readonly base: ScoreAttributes
  /** What the counter of evaluations has besides: the level, unless it is that of runs. */
  readonly level: ScoreAttributes
  readonly outcomes: Map<string, Cell>
  chosen: ChosenCells | undefined
  scored: ScoredCells | undefined
}

/** The cells of runs that were chosen to be scored: with a score, or without one. */
interface ChosenCells {
  readonly scored: Cell
  readonly lost: Cell
}

/** The scored calls of a run; of a scorer of runs, the run alone. */
interface Cluster {
  readonly n: number
  readonly passed: number
  /** The sum of their positions, and that of the squares. */
  readonly t: number
  readonly squares: number
}

interface LatestGroup {
  readonly version: string
  readonly model: string | undefined
  readonly judgeModel: string | undefined
  readonly group: Group
}

/** What became of a conversation; `without-id` is that of a run which is in none. */
export type ConversationOutcome = 'closed' | 'incomplete' | 'evicted' | 'revised' | 'without-id'

/** The sums of evaluations, runs and judges, which wait to be written as metrics. */
export class MetricSums {
  readonly gathered: GatheredSums = new GatheredSums()
  readonly #traits: TraitSums | undefined
  readonly #groups = new Map<string, Group>()
  /** The latest group of each scorer and agent. An agent usually has one model, so this saves building a key. */
  readonly #latest = new Map<string, Map<string | undefined, LatestGroup>>()
  /** The cells of runs that the fixed rate of a scorer left out. With sampling, these are most runs. */
  readonly #leftOut = new WeakMap<Evaluation['scorer'], Cell>()
  readonly #others = new Map<string, Cell>()
  /** The cell in which the latest run was counted. */
  #latestRun: { readonly outcome: string; readonly agent: string | undefined; readonly cell: Cell } | undefined
  /** By agent and scorer. Versions and models share these cells, because a failed run may not know its judge model. */
  readonly #chosen = new Map<string, ChosenCells>()
  /** By scorer, the agents of which a run was chosen to be scored. */
  readonly #agentsOf = new Map<string, Set<string | undefined>>()
  readonly #agents = new BoundedNames(MAX_NAMES, MAX_NAMES / 2)
  readonly #models = new BoundedNames(MAX_NAMES, MAX_NAMES / 2)
  readonly #judgeModels = new Map<string, BoundedNames>()
  readonly #feedbackNames = new BoundedNames(MAX_NAMES)
  readonly #feedbackLabels = new BoundedNames(MAX_LABELS)

  /**
   * @param hasTraits whether traits of scored runs are counted
   * @param now milliseconds
   */
  constructor(hasTraits: boolean, now: () => number) {
    this.#traits = hasTraits ? new TraitSums(this.gathered, now) : undefined
  }

  /** The name by which metrics call an agent. */
  nameOf({ agent: { name } }: AgentRun): string | undefined {
    return name === undefined ? undefined : this.#agents.of(name)
  }

  countRun(outcome: 'closed' | 'evicted', agentName: string | undefined): void {
    const agent = agentName === undefined ? undefined : this.#agents.of(agentName)
    if (this.#latestRun?.outcome !== outcome || this.#latestRun.agent !== agent) {
      const attributes = () => ({ 'spanscore.outcome': outcome, ...agentAttribute(agent) })
      this.#latestRun = { outcome, agent, cell: this.#other('runs', `${outcome}\n${agent}`, attributes) }
    }
    this.gathered.add(this.#latestRun.cell, 1)
  }

  countFeedback(givenName: string, givenLabel: string | undefined): void {
    const name = this.#feedbackNames.of(givenName)
    const label = givenLabel === undefined ? undefined : this.#feedbackLabels.of(givenLabel)
    const attributes = () => ({
      'gen_ai.evaluation.name': name,
      ...(label !== undefined && { 'gen_ai.evaluation.score.label': label }),
    })
    this.gathered.add(this.#other('feedback', `${name}\n${label ?? ''}`, attributes), 1)
  }

  countConversation(outcome: ConversationOutcome, agentName: string | undefined): void {
    const agent = agentName === undefined ? undefined : this.#agents.of(agentName)
    this.#add('conversations', 1, `${outcome}\n${agent}`, () => ({
      'spanscore.outcome': outcome,
      ...agentAttribute(agent),
    }))
  }

  /** The settings of each scorer for each agent of which a run was chosen to be scored, so that rules can join them to the sums; and that of the service. */
  *alertSettings(alerts: ReadonlyMap<string, AlertSettings>, quietS: number | undefined): Iterable<Observation> {
    if (quietS !== undefined) yield { value: quietS, attributes: { 'spanscore.setting': 'quiet' } }
    for (const [id, agents] of this.#agentsOf) {
      for (const agent of agents) {
        for (const [name, value] of Object.entries(alerts.get(id) ?? {})) {
          const attributes = { 'gen_ai.evaluation.name': id, 'spanscore.setting': name, ...agentAttribute(agent) }
          yield { value, attributes }
        }
      }
    }
  }

  countLeftOut(scorer: Evaluation['scorer']): void {
    let cell = this.#leftOut.get(scorer)
    if (cell === undefined) {
      const group = this.#group(scorer, undefined, undefined, undefined, NO_ATTRIBUTES)
      cell = this.#outcome(group, 'skipped', 'sampled-out')
      this.#leftOut.set(scorer, cell)
    }
    this.gathered.add(cell, 1)
  }

  /** Counts an evaluation, and its weight if it has one. Returns the attributes of the score's histogram. */
  count(evaluation: Evaluation, run: AgentRun | undefined, extra: ScoreAttributes): ScoreAttributes {
    const { score, scorer, judge } = evaluation
    const agentName = run?.agent.name
    const agent = agentName === undefined ? undefined : this.#agents.of(agentName, run)
    const modelName = run?.models[0]
    const model = modelName === undefined ? undefined : this.#models.of(modelName, run)
    const judgeModel = judge === undefined ? undefined : this.#judgeModel(scorer.id, judge.model)
    const group = this.#group(scorer, agent, model, judgeModel, extra)
    const detail = score.status === 'scored' ? score.label : score.status === 'skipped' ? score.reason : score.code
    const { gathered } = this
    gathered.add(this.#outcome(group, score.status, detail), 1)
    const w = weightOf(evaluation)
    if (w === undefined) return group.base
    if (group.chosen === undefined) this.#noteAgent(scorer.id, agent)
    const chosen = (group.chosen ??= this.#chosenOf(group))
    if (score.status !== 'scored') {
      gathered.add(chosen.lost, w * lostUnits(evaluation, run))
      return group.base
    }
    if (run !== undefined) this.#traits?.count(scorer, agent, run, { label: score.label, weight: w, extra })
    const cells = (group.scored ??= this.#scored(group))
    if (evaluation.calls !== undefined) {
      this.#addCalls(evaluation, evaluation.calls, w, chosen, cells)
      return group.base
    }
    const y = positionInRange(evaluation, score.value)
    this.#addSums(w, { n: 1, passed: score.label === 'pass' ? 1 : 0, t: y, squares: y * y }, chosen, cells)
    return group.base
  }

  #addCalls(
    evaluation: Evaluation,
    calls: readonly CallScore[],
    w: number,
    chosen: ChosenCells,
    cells: ScoredCells,
  ): void {
    let [n, passed, t, squares, lost] = [0, 0, 0, 0, 0]
    for (const { score } of calls) {
      if (score.status === 'scored') {
        const y = positionInRange(evaluation, score.value)
        n += 1
        t += y
        squares += y * y
        if (score.label === 'pass') passed += 1
      } else if (isLost(score)) lost += 1
    }
    this.#addSums(w, { n, passed, t, squares }, chosen, cells)
    if (lost > 0) this.gathered.add(chosen.lost, w * lost)
  }

  /**
   * Adds a run. The calls of a run share its outcome, so they are one observation: a cluster of n calls whose positions sum to t. The formulas
   * of means and intervals are the same for both: see `addWeighted`.
   */
  #addSums(w: number, { n, passed, t, squares }: Cluster, chosen: ChosenCells, cells: ScoredCells): void {
    const { gathered } = this
    gathered.add(chosen.scored, w * n)
    if (passed > 0) gathered.add(cells.pass, w * passed)
    if (passed < n) gathered.add(cells.fail, w * (n - passed))
    gathered.add(cells.wy, w * t)
    gathered.add(cells.wy2, w * squares)
    // Of calls that differ, each has its share, so that both labels together are (w·n)².
    if (passed > 0) gathered.add(cells.w2Pass, w * n * w * passed)
    if (passed < n) gathered.add(cells.w2Fail, w * n * w * (n - passed))
    gathered.add(cells.w2y, w * n * w * t)
    gathered.add(cells.w2y2, w * t * w * t)
  }

  /** Counts the calls, tokens and cost of a judge. Returns the attributes of its duration. */
  countJudge({ scorer }: Evaluation, judge: JudgeReport): ScoreAttributes {
    const model = this.#judgeModel(scorer.id, judge.model)
    const attributes: ScoreAttributes = { 'gen_ai.evaluation.name': scorer.id, 'spanscore.judge.model': model }
    const key = `${scorer.id}\n${model}`
    const { inputTokens = 0, outputTokens = 0 } = judge.usage
    this.#add('tokens', inputTokens, `${key}\ninput`, () => ({ ...attributes, 'gen_ai.token.type': 'input' }))
    this.#add('tokens', outputTokens, `${key}\noutput`, () => ({ ...attributes, 'gen_ai.token.type': 'output' }))
    if (judge.costUsd !== undefined) this.#add('cost', judge.costUsd, key, () => attributes)
    return attributes
  }

  #judgeModel(scorerId: string, model: string): string {
    let known = this.#judgeModels.get(scorerId)
    if (known === undefined) {
      known = new BoundedNames(MAX_JUDGE_MODELS)
      this.#judgeModels.set(scorerId, known)
    }
    return known.of(model)
  }

  #add(counter: CounterName, value: number, key: string, attributes: () => ScoreAttributes): void {
    this.gathered.add(this.#other(counter, key, attributes), value)
  }

  /** @param attributes Called for the first value of a key. */
  #other(counter: CounterName, key: string, attributes: () => ScoreAttributes): Cell {
    const full = `${counter}\n${key}`
    let cell = this.#others.get(full)
    if (cell === undefined) {
      const isFull = this.#others.size >= MAX_SETS
      cell = this.gathered.cell(counter, isFull ? OVERFLOW : attributes())
      if (!isFull) this.#others.set(full, cell)
    }
    return cell
  }

  #group(
    { id, version, level }: Evaluation['scorer'],
    agent: string | undefined,
    model: string | undefined,
    judgeModel: string | undefined,
    extra: ScoreAttributes,
  ): Group {
    const latest = extra === NO_ATTRIBUTES ? this.#latest.get(id)?.get(agent) : undefined
    if (
      latest !== undefined &&
      latest.model === model &&
      latest.judgeModel === judgeModel &&
      latest.version === version
    ) {
      return latest.group
    }
    const more = extra === NO_ATTRIBUTES ? '' : JSON.stringify(extra)
    const key = `${id}\n${version}\n${agent}\n${model}\n${judgeModel}\n${more}`
    const group = this.#groups.get(key) ?? this.#newGroup(key, { id, version, level, agent, model, judgeModel, extra })
    if (extra === NO_ATTRIBUTES) this.#setLatest(id, agent, { version, model, judgeModel, group })
    return group
  }

  #setLatest(scorerId: string, agent: string | undefined, latest: LatestGroup): void {
    const known = this.#latest.get(scorerId)
    if (known === undefined) this.#latest.set(scorerId, new Map([[agent, latest]]))
    else known.set(agent, latest)
  }

  #newGroup(key: string, named: Named): Group {
    if (this.#groups.size >= MAX_SETS && key !== 'overflow') {
      return this.#groups.get('overflow') ?? this.#newGroup('overflow', named)
    }
    const { base, attributes } = key === 'overflow' ? { base: OVERFLOW, attributes: OVERFLOW } : attributesOf(named)
    const level = named.level === 'run' ? NO_ATTRIBUTES : { 'spanscore.level': named.level }
    const group: Group = { base, attributes, level, outcomes: new Map(), chosen: undefined, scored: undefined }
    this.#groups.set(key, group)
    return group
  }

  #noteAgent(scorerId: string, agent: string | undefined): void {
    const agents = this.#agentsOf.get(scorerId)
    if (agents === undefined) this.#agentsOf.set(scorerId, new Set([agent]))
    else agents.add(agent)
  }

  #outcome(group: Group, outcome: 'scored' | 'skipped' | 'failed', detail: string): Cell {
    const known = group.outcomes.get(detail)
    if (known !== undefined) return known
    const name = outcome === 'scored' ? LABEL : 'spanscore.reason'
    const attributes =
      group.base === OVERFLOW
        ? OVERFLOW
        : { ...group.attributes, ...group.level, 'spanscore.outcome': outcome, [name]: detail }
    const cell = this.gathered.cell('evaluations', attributes)
    group.outcomes.set(detail, cell)
    return cell
  }

  /**
   * Scored and lost runs are two series of one counter that begin together, so that their ratio is right from the first run on, even
   * if a backend loses the first value of each series. A ratio to `spanscore.sum.w` would not be, because that counter begins
   * again with every version and model.
   */
  #chosenOf({ base }: Group): ChosenCells {
    const key = JSON.stringify(base)
    let cells = this.#chosen.get(key)
    if (cells === undefined) {
      const cell = (outcome: keyof ChosenCells) =>
        this.gathered.cell('chosen', base === OVERFLOW ? OVERFLOW : { ...base, 'spanscore.outcome': outcome })
      cells = { scored: cell('scored'), lost: cell('lost') }
      this.#chosen.set(key, cells)
    }
    return cells
  }

  /**
   * All sums of a group begin together, those of both labels included. A backend that loses the first value of each series then loses
   * the same runs from all of them, so that their ratios stay right.
   */
  #scored({ attributes, base }: Group): ScoredCells {
    const cell = (counter: CounterName) => this.gathered.cell(counter, attributes)
    const labelled = (counter: CounterName, label: 'pass' | 'fail') =>
      this.gathered.cell(counter, base === OVERFLOW ? OVERFLOW : { ...attributes, [LABEL]: label })
    return {
      pass: labelled('w', 'pass'),
      fail: labelled('w', 'fail'),
      wy: cell('wy'),
      wy2: cell('wy2'),
      w2Pass: labelled('w2', 'pass'),
      w2Fail: labelled('w2', 'fail'),
      w2y: cell('w2y'),
      w2y2: cell('w2y2'),
    }
  }
}

/** How many scores are lost with a run: one, or those of its calls. */
function lostUnits({ scorer, calls }: Evaluation, run: AgentRun | undefined): number {
  if (scorer.level === 'run') return 1
  if (calls !== undefined) return Math.max(1, calls.filter(({ score }) => isLost(score)).length)
  return run === undefined ? 1 : Math.max(1, callsAt(run, scorer.level).length)
}

const LABEL = 'gen_ai.evaluation.score.label'

const OVERFLOW: ScoreAttributes = { 'otel.metric.overflow': true }

interface Named {
  readonly id: string
  readonly version: string
  readonly level: string
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly judgeModel: string | undefined
  readonly extra: ScoreAttributes
}

function attributesOf({ id, version, agent, model, judgeModel, extra }: Named): Pick<Group, 'attributes' | 'base'> {
  const base = { ...extra, 'gen_ai.evaluation.name': id, ...agentAttribute(agent) }
  const attributes: ScoreAttributes = { ...base, 'spanscore.scorer.version': version }
  if (model !== undefined) attributes['gen_ai.request.model'] = model
  if (judgeModel !== undefined) attributes['spanscore.judge.model'] = judgeModel
  return { attributes, base }
}

function agentAttribute(agent: string | undefined): ScoreAttributes {
  return agent === undefined ? {} : { 'gen_ai.agent.name': agent }
}

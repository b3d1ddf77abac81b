import type { AgentRun } from '../../../src/model/agent-run.ts'
import { findingLine } from '../../../src/model/finding.ts'
import type { Evaluation, Score, Scored } from '../../../src/model/score.ts'
import { addWeighted, weightedMean } from '../../../src/sampling/weighted-mean.ts'
import type { WeightedSums } from '../../../src/sampling/weighted-mean.ts'

/** A run with a bad score, and the reason. */
export interface WorstRun {
  readonly runId: string
  readonly value: number
  readonly userInput?: string
  readonly explanation?: string
  /** What is wrong and is not in the explanation, one line each. */
  readonly findings: readonly string[]
}

/** How often a reason was given instead of a score, with the first message. */
export interface ReasonCount {
  readonly count: number
  readonly message: string
}

/** A mean in the scorer's own units, with its 95 % interval. */
export interface ScoreMean {
  readonly mean: number
  readonly interval95: readonly [number, number]
}

type Scorer = Evaluation['scorer']

/** How many characters of an input or explanation are kept. */
const MAX_TEXT = 2000

/** How many findings of a run are kept. */
const MAX_FINDINGS = 5

const NOTHING: WeightedSums = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }

/** Which of the worst runs are kept. */
export interface TallyOptions {
  /** How many for each agent and scorer. */
  readonly worst: number
  /** Whether their input is kept. */
  readonly showsInput: boolean
}

/** The results of one scorer for the runs of one agent, or of all agents. Its size does not depend on the number of runs. */
export class Tally {
  readonly scorer: Scorer
  readonly skipped: Map<string, ReasonCount> = new Map()
  readonly failed: Map<string, ReasonCount> = new Map()
  #sums = NOTHING
  #worst: WorstRun[] = []
  readonly #options: TallyOptions
  #scored = 0
  #passed = 0

  constructor(scorer: Scorer, options: TallyOptions) {
    this.scorer = scorer
    this.#options = options
  }

  /** What is counted. */
  get units(): 'runs' | 'calls' | 'conversations' {
    const { level } = this.scorer
    return level === 'run' ? 'runs' : level === 'conversation' ? 'conversations' : 'calls'
  }

  /** Runs with a score; calls, if the scorer is one of calls. */
  get scored(): number {
    return this.#scored
  }

  /** Those whose score passed. */
  get passed(): number {
    return this.#passed
  }

  /** Number of runs without a score. */
  get unscored(): number {
    return [...this.skipped.values(), ...this.failed.values()].reduce((sum, reason) => sum + reason.count, 0)
  }

  /** Whether a run did not pass, or its score failed. */
  get hasFailures(): boolean {
    return this.#passed < this.#scored || this.failed.size > 0
  }

  /** The worst runs that did not pass, worst first. */
  get worst(): readonly WorstRun[] {
    return this.#worst
  }

  add(run: AgentRun, { score, calls }: Evaluation): void {
    // Of calls that are not the scorer's matter nothing is shown, and of runs without any that is.
    const all = (calls ?? []).map((call) => call.score).filter((each) => !isNotApplicable(each))
    const scored: Scored[] = []
    for (const each of all.length === 0 ? [score] : all) {
      if (each.status === 'skipped') count(this.skipped, each.reason, each.message)
      else if (each.status === 'failed') count(this.failed, each.code, each.message)
      else scored.push(each)
    }
    if (score.status !== 'scored') return
    this.#scored += scored.length
    this.#passed += scored.filter(({ label }) => label === 'pass').length
    this.#sums = addWeighted(this.#sums, 1, ...scored.map(({ value }) => this.#toPosition(value)))
    if (score.label === 'fail') this.#keepWorst(run, score)
  }

  /** `undefined` if nothing was scored. */
  mean(): ScoreMean | undefined {
    const found = weightedMean(this.#sums)
    if (found === undefined) return undefined
    const [low, high] = found.interval95.map((position) => this.#fromPosition(position))
    if (low === undefined || high === undefined) return undefined
    return { mean: this.#fromPosition(found.mean), interval95: low <= high ? [low, high] : [high, low] }
  }

  #keepWorst(run: AgentRun, { value, explanation, findings = [] }: Scored): void {
    const last = this.#worst.at(-1)
    const { worst: most, showsInput } = this.#options
    if (this.#worst.length === most && (last === undefined || !this.#isWorse(value, last.value))) return
    const userInput = showsInput ? run.userInput?.slice(0, MAX_TEXT) : undefined
    const others = findings.filter(({ rating, text }) => rating === 'bad' && explanation?.includes(text) !== true)
    const worst: WorstRun = {
      runId: run.id,
      value,
      ...(userInput !== undefined && { userInput }),
      ...(explanation !== undefined && { explanation: explanation.slice(0, MAX_TEXT) }),
      findings: others.slice(0, MAX_FINDINGS).map(findingLine),
    }
    const place = this.#worst.findIndex((kept) => this.#isWorse(value, kept.value))
    this.#worst.splice(place === -1 ? this.#worst.length : place, 0, worst)
    this.#worst.length = Math.min(this.#worst.length, most)
  }

  #isWorse(value: number, than: number): boolean {
    return this.scorer.better === 'higher' ? value < than : value > than
  }

  /** The position of a value in the range, 0 to 1, inverted if lower is better. */
  #toPosition(value: number): number {
    const [low, high] = this.scorer.range
    const position = (value - low) / (high - low)
    return this.scorer.better === 'higher' ? position : 1 - position
  }

  #fromPosition(position: number): number {
    const [low, high] = this.scorer.range
    return low + (high - low) * (this.scorer.better === 'higher' ? position : 1 - position)
  }
}

function isNotApplicable(score: Score): boolean {
  return score.status === 'skipped' && score.reason === 'not-applicable'
}

function count(counts: Map<string, ReasonCount>, reason: string, message: string): void {
  const known = counts.get(reason)
  counts.set(reason, { count: (known?.count ?? 0) + 1, message: known?.message ?? message })
}

/** How many agents have rows of their own. Further agents share one. */
const MAX_AGENTS = 1000
const OTHER_AGENTS = '(other agents)'
const UNNAMED = '(agent without a name)'

/** The name of the row of a run's agent. */
export function rowOf({ agent }: AgentRun): string {
  return agent.name ?? UNNAMED
}

/** One row of the table. */
export interface TallyRow {
  readonly agent: string
  readonly tally: Tally
}

/** The results of all runs, by agent and scorer, and by scorer. */
export class Tallies {
  readonly #byAgent = new Map<string, Map<string, Tally>>()
  readonly #byScorer: ReadonlyMap<string, Tally>
  readonly #options: TallyOptions
  #runs = 0
  #conversations = 0

  constructor(scorers: readonly Scorer[], options: TallyOptions) {
    this.#options = options
    this.#byScorer = new Map(scorers.map((scorer) => [scorer.id, new Tally(scorer, options)]))
  }

  /** Number of runs to which at least one scorer applied. */
  get runs(): number {
    return this.#runs
  }

  /** Number of conversations to which at least one scorer applied. */
  get conversations(): number {
    return this.#conversations
  }

  add(run: AgentRun, evaluations: readonly Evaluation[]): void {
    if (run.conversation === undefined) this.#runs++
    else this.#conversations++
    const byScorer = this.#ofAgent(rowOf(run))
    for (const evaluation of evaluations) {
      const { scorer } = evaluation
      const tally = byScorer.get(scorer.id) ?? new Tally(scorer, this.#options)
      byScorer.set(scorer.id, tally)
      tally.add(run, evaluation)
      this.#byScorer.get(scorer.id)?.add(run, evaluation)
    }
  }

  /** The tally of a scorer over all agents. */
  ofScorer(id: string): Tally | undefined {
    return this.#byScorer.get(id)
  }

  /** Rows by agent and then by scorer, in the order of first appearance. */
  rows(): readonly TallyRow[] {
    return [...this.#byAgent].flatMap(([agent, byScorer]) => [...byScorer.values()].map((tally) => ({ agent, tally })))
  }

  #ofAgent(name: string): Map<string, Tally> {
    const agent = this.#byAgent.has(name) || this.#byAgent.size < MAX_AGENTS ? name : OTHER_AGENTS
    const byScorer = this.#byAgent.get(agent) ?? new Map<string, Tally>()
    this.#byAgent.set(agent, byScorer)
    return byScorer
  }
}

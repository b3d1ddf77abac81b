import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import { countedTrait, countedTraits } from '../traits/metric-traits.ts'
import type { CountedTrait } from '../traits/metric-traits.ts'
import { BoundedNames } from './bounded-names.ts'
import type { Cell, GatheredSums } from './gathered-sums.ts'
import { PerSecond } from './per-second.ts'

/** How many traits of one scorer are kept apart; half of the places are for those that come a third time. */
const MAX_TRAITS = 64

/** How many pairs of agent and scorer have traits. */
const MAX_GROUPS = 500

/**
 * How many runs of one scorer are counted in a second, and how many of them of one agent. Traits are compared with each other, so a part of the
 * runs tells the same, and a busy process does not pay for all.
 */
const MAX_A_SECOND = { scorer: 40, agent: 10 }

/** The traits of one scorer and agent. */
interface Group {
  readonly cells: Map<string, TraitCells>
  readonly rate: PerSecond
}

/** The cells of one trait. They begin together, so that their ratio is right from the first run on. */
interface TraitCells {
  readonly pass: Cell
  readonly fail: Cell
}

/**
 * The sums of weights by trait: what failing runs share that passing runs lack. Traits are not crossed with each other. Every run has one
 * `status`, so the sums of that trait are those of all runs.
 */
export class TraitSums {
  readonly #gathered: GatheredSums
  readonly #now: () => number
  readonly #groups = new Map<string, Group>()
  readonly #scorers = new Map<string, { readonly names: BoundedNames; readonly rate: PerSecond }>()

  /** @param now milliseconds */
  constructor(gathered: GatheredSums, now: () => number) {
    this.#gathered = gathered
    this.#now = now
  }

  /**
   * Counts a scored run, unless many of its agent were counted in this second.
   *
   * @param agent as metrics name it
   * @param extra attributes that `metricAttributes` copies: each is a trait
   */
  count(
    { id }: Evaluation['scorer'],
    agent: string | undefined,
    run: AgentRun,
    {
      label,
      weight,
      extra,
    }: { readonly label: 'pass' | 'fail'; readonly weight: number; readonly extra: ScoreAttributes },
  ): void {
    const { rate } = this.#scorer(id)
    const cells = rate.isSpent ? undefined : this.#cellsNow(`${id}\n${agent ?? ''}`)
    if (cells === undefined) return
    rate.take()
    for (const trait of countedTraits(run).traits) this.#add(cells, id, agent, run, trait, label, weight)
    for (const key in extra) this.#add(cells, id, agent, run, countedTrait(key, String(extra[key])), label, weight)
  }

  /** The cells of a group; `undefined` if it has counted enough in this second, or there are too many groups. */
  #cellsNow(key: string): Map<string, TraitCells> | undefined {
    let group = this.#groups.get(key)
    if (group === undefined) {
      if (this.#groups.size >= MAX_GROUPS) return undefined
      group = { cells: new Map(), rate: new PerSecond(MAX_A_SECOND.agent, this.#now) }
      this.#groups.set(key, group)
    }
    return group.rate.take() ? group.cells : undefined
  }

  #scorer(id: string): { readonly names: BoundedNames; readonly rate: PerSecond } {
    let scorer = this.#scorers.get(id)
    if (scorer === undefined) {
      scorer = {
        names: new BoundedNames(MAX_TRAITS, MAX_TRAITS / 2),
        rate: new PerSecond(MAX_A_SECOND.scorer, this.#now),
      }
      this.#scorers.set(id, scorer)
    }
    return scorer
  }

  #add(
    cells: Map<string, TraitCells>,
    id: string,
    agent: string | undefined,
    run: AgentRun,
    [key, value, trait]: CountedTrait,
    label: 'pass' | 'fail',
    weight: number,
  ): void {
    const known = cells.get(trait)
    if (known !== undefined) {
      this.#gathered.add(known[label], weight)
      return
    }
    const isKept = this.#scorer(id).names.of(trait, run) === trait
    const kept = isKept ? trait : `${key}\nother`
    const made = cells.get(kept) ?? this.#create(id, agent, key, isKept ? value : 'other')
    cells.set(kept, made)
    this.#gathered.add(made[label], weight)
  }

  #create(id: string, agent: string | undefined, key: string, value: string): TraitCells {
    const cell = (label: 'pass' | 'fail') =>
      this.#gathered.cell('traits', {
        'gen_ai.evaluation.name': id,
        ...(agent !== undefined && { 'gen_ai.agent.name': agent }),
        'gen_ai.evaluation.score.label': label,
        'spanscore.trait': key,
        'spanscore.trait.value': value,
      })
    return { pass: cell('pass'), fail: cell('fail') }
  }
}

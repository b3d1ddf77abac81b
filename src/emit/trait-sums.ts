import type { AgentRun } from '../model/agent-run.ts'
import type { Evaluation } from '../model/score.ts'
import type { ScoreAttributes } from '../attributes/attribute-table.ts'
import { countedTrait, countedTraits } from '../traits/metric-traits.ts'
import type { CountedTrait } from '../traits/metric-traits.ts'
import { BoundedNames } from './bounded-names.ts'
import type { Cell, GatheredSums } from './gathered-sums.ts'

/** How many traits of one scorer are kept apart; half of the places are for those that come a third time. */
const MAX_TRAITS = 64

/** How many pairs of agent and scorer have traits. */
const MAX_GROUPS = 500

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
  readonly #groups = new Map<string, Map<string, TraitCells>>()
  readonly #names = new Map<string, BoundedNames>()

  constructor(gathered: GatheredSums) {
    this.#gathered = gathered
  }

  /**
   * Counts a scored run.
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
    const group = `${id}\n${agent ?? ''}`
    let cells = this.#groups.get(group)
    if (cells === undefined) {
      if (this.#groups.size >= MAX_GROUPS) return
      cells = new Map()
      this.#groups.set(group, cells)
    }
    for (const trait of countedTraits(run).traits) this.#add(cells, id, agent, run, trait, label, weight)
    for (const key in extra) this.#add(cells, id, agent, run, countedTrait(key, String(extra[key])), label, weight)
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
    const names = this.#names.get(id) ?? new BoundedNames(MAX_TRAITS, MAX_TRAITS / 2)
    this.#names.set(id, names)
    const isKept = names.of(trait, run) === trait
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

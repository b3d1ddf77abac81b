import { BoundedMap } from '../spans/bounded-map.ts'
import { LimitedSet } from '../spans/limited-set.ts'
import { MAX_NAME_LENGTH, shortened } from '../attributes/explanation-rules.ts'

/** Number of runs in which a name must come before it takes one of the places that are left for names in use. */
const USES = 3

/** Maximum number of names whose runs are counted. */
const MAX_COUNTED = 1000

/**
 * Bounds the values of a metric attribute: every name beyond `limit` becomes `other`. Some places may be for names that come again: names
 * that somebody makes up for each run leave room for those of agents that run often.
 */
export class BoundedNames {
  readonly #known: LimitedSet<string>
  readonly #first: LimitedSet<string>
  readonly #uses = new BoundedMap<string, number>(MAX_COUNTED)
  readonly #counted = new WeakSet()

  /** @param forUsed how many of the places are for names that come again */
  constructor(limit: number, forUsed = 0) {
    this.#known = new LimitedSet(limit)
    this.#first = new LimitedSet(limit - forUsed)
  }

  /** @param run the run that has this name; its further scores do not count as further uses */
  of(given: string, run?: object): string {
    if (this.#known.has(given)) return given
    const name = shortened(given, MAX_NAME_LENGTH)
    if (this.#known.has(name)) return name
    return (this.#first.add(name) || this.#isInUse(name, run)) && this.#known.add(name) ? name : 'other'
  }

  #isInUse(name: string, run: object | undefined): boolean {
    if (run === undefined || this.#counted.has(run)) return false
    this.#counted.add(run)
    const uses = (this.#uses.get(name) ?? 0) + 1
    this.#uses.set(name, uses)
    return uses >= USES
  }
}

import { LimitedSet } from '../spans/limited-set.ts'
import { MAX_NAME_LENGTH, shortened } from './score-attributes.ts'

/** Bounds the values of a metric attribute: the first `limit` names are kept, and every further one becomes `other`. */
export class BoundedNames {
  readonly #known: LimitedSet<string>

  constructor(limit: number) {
    this.#known = new LimitedSet(limit)
  }

  of(given: string): string {
    if (this.#known.has(given)) return given
    const name = shortened(given, MAX_NAME_LENGTH)
    return this.#known.add(name) || this.#known.has(name) ? name : 'other'
  }
}

import { MAX_NAME_LENGTH, shortened } from './score-attributes.ts'

/** Keeps metric attributes few: the first `limit` names are themselves, every further one is `other`. */
export class BoundedNames {
  readonly #limit: number
  readonly #known = new Set<string>()

  constructor(limit: number) {
    this.#limit = limit
  }

  of(given: string): string {
    if (this.#known.has(given)) return given
    const name = shortened(given, MAX_NAME_LENGTH)
    if (this.#known.has(name)) return name
    if (this.#known.size >= this.#limit) return 'other'
    this.#known.add(name)
    return name
  }
}

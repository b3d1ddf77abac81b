/** Keeps metric attributes few: the first `limit` names are themselves, every further one is `other`. */
export class BoundedNames {
  readonly #limit: number
  readonly #known = new Set<string>()

  constructor(limit: number) {
    this.#limit = limit
  }

  of(name: string): string {
    if (this.#known.has(name)) return name
    if (this.#known.size >= this.#limit) return 'other'
    this.#known.add(name)
    return name
  }
}

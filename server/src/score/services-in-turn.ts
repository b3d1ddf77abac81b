/** A queue of which services take turns, so that none waits for the many entries of another. */
export class ServicesInTurn<T> {
  /** In the order of their turns. */
  readonly #services = new Map<unknown, T[]>()

  /** @param service the name of the service that it belongs to */
  add(service: unknown, entry: T): void {
    const entries = this.#services.get(service)
    if (entries === undefined) this.#services.set(service, [entry])
    else entries.push(entry)
  }

  /** Takes the oldest entry of the next service; `undefined` if there is none. */
  take(): T | undefined {
    const [next] = this.#services
    if (next === undefined) return undefined
    const [service, entries] = next
    const entry = entries.shift()
    // Its next turn comes after those of all others.
    this.#services.delete(service)
    if (entries.length > 0) this.#services.set(service, entries)
    return entry
  }
}

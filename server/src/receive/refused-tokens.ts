/** How often further refusals are counted. */
const EVERY_MS = 60_000

/** Addresses whose refusals are counted by themselves. */
const MAX_ADDRESSES = 1000

/** Says who shows wrong tokens: at once for the first of an address, and then a count each minute. */
export class RefusedTokens {
  readonly #what: string
  readonly #report: (line: string) => void
  /** How many came of each address since the latest line. */
  readonly #counts = new Map<string, number>()
  readonly #timer: NodeJS.Timeout

  /** @param what what needs the token, at the beginning of lines */
  constructor(what: string, report: (line: string) => void) {
    this.#what = what
    this.#report = report
    this.#timer = setInterval(() => this.count(), EVERY_MS).unref()
  }

  add(address: string | undefined): void {
    const known = this.#counts.has(address ?? '') || this.#counts.size < MAX_ADDRESSES
    const name = known ? (address ?? '') : 'other addresses'
    const count = this.#counts.get(name)
    if (count === undefined)
      this.#report(`${this.#what}: a request of ${name} was refused, because it had no token or a wrong one.`)
    this.#counts.set(name, count === undefined ? 0 : count + 1)
  }

  /** Writes what came since the latest count. An address without any is forgotten. */
  count(): void {
    for (const [address, count] of this.#counts) {
      if (count > 0) this.#report(`${this.#what}: ${count} more requests of ${address} were refused in a minute.`)
      if (count > 0) this.#counts.set(address, 0)
      else this.#counts.delete(address)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

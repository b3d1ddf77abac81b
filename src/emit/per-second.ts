/** So many in each second, and no more: a busy process does not pay for all. */
export class PerSecond {
  readonly #most: number
  readonly #now: () => number
  #second = 0
  #left = 0

  /** @param now milliseconds */
  constructor(most: number, now: () => number) {
    this.#most = most
    this.#now = now
  }

  /** Whether all of this second are taken. */
  get isSpent(): boolean {
    const second = Math.floor(this.#now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#left = this.#most
    }
    return this.#left === 0
  }

  /** Takes one of this second; false if there are no more. */
  take(): boolean {
    if (this.isSpent) return false
    this.#left -= 1
    return true
  }
}

/**
 * Work that is done once for all who ask at the same time. Who asks while it is under way waits for the next time, which begins when this one ends: what
 * came meanwhile is in it.
 */
export class SharedWork {
  readonly #work: () => Promise<void>
  #underWay: Promise<void> | undefined
  #next: Promise<void> | undefined

  /** @param work must not reject */
  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Resolves when the work was done that began now or later. It begins in this turn if none is under way. */
  done(): Promise<void> {
    if (this.#underWay === undefined) {
      this.#underWay = this.#work().finally(() => {
        this.#underWay = undefined
      })
      return this.#underWay
    }
    this.#next ??= this.#underWay.then(() => {
      this.#next = undefined
      return this.done()
    })
    return this.#next
  }
}

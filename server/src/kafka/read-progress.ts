/** A leader that has reported nothing for this long, three looks at the ends of partitions, does not answer. */
const SILENT_MS = 15_000

/** How far a topic's partition could be read, and when it last was. */
export class ReadProgress {
  readonly #now: () => number
  #end = 0
  #reportedMs: number
  #progressMs: number

  /** @param now a monotonic clock, in milliseconds */
  constructor(now: () => number) {
    this.#now = now
    this.#reportedMs = now()
    this.#progressMs = now()
  }

  /** Whether the leader has not answered for a while, so that nothing could be read. */
  get isSilent(): boolean {
    return this.#now() - this.#reportedMs > SILENT_MS
  }

  /** Called with the offset after the last message, whenever the leader reports it. */
  endsAt(end: number): void {
    // While the leader did not answer, waiting messages were nobody's fault.
    if (this.isSilent) this.advance()
    this.#end = end
    this.#reportedMs = this.#now()
  }

  /** Called when messages were read, when none wait, and while none may be read. */
  advance(): void {
    this.#progressMs = this.#now()
  }

  /** Unread messages from an offset on. */
  lagFrom(next: number): number {
    return Math.max(0, this.#end - next)
  }

  /** For how many milliseconds messages have waited that the leader would give out; 0 if none wait. */
  idleMs(next: number): number {
    return this.lagFrom(next) === 0 || this.isSilent ? 0 : this.#now() - this.#progressMs
  }
}

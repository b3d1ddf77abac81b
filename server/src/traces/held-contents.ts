import type { HeldSpan } from './held-span.ts'
import type { RunUnit } from './run-unit.ts'

/** The contents of spans that are in memory. Above a limit those of the oldest units are dropped, and read from the log again. */
export class HeldContents {
  readonly #maxBytes: number
  /** Units with content in memory, in the order in which they got it. */
  readonly #units = new Set<RunUnit>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** An estimate. */
  get bytes(): number {
    return this.#bytes
  }

  /** A span with its content was added to a unit, or a span of the unit got its content back. */
  add(unit: RunUnit, { bytes }: HeldSpan): void {
    this.#bytes += bytes
    this.#units.add(unit)
    if (this.#bytes > this.#maxBytes) this.#dropOldest()
  }

  /** The spans of one unit belong to another one now. */
  move(from: RunUnit, into: RunUnit): void {
    if (this.#units.delete(from)) this.#units.add(into)
  }

  /** Nothing of a unit needs to be in memory. */
  drop(unit: RunUnit): void {
    this.#units.delete(unit)
    for (const span of unit.spans) this.#dropSpan(span)
  }

  #dropOldest(): void {
    // A tenth more than needed is dropped, so that the next span is not the next reason.
    const goal = this.#maxBytes * 0.9
    for (const unit of this.#units) {
      if (this.#bytes <= goal) return
      this.drop(unit)
    }
  }

  #dropSpan(span: HeldSpan): void {
    for (const log of span.logs ?? []) log.content = undefined
    if (span.content === undefined) return
    span.content = undefined
    this.#bytes -= span.bytes
  }
}

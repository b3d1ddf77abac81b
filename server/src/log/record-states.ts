import type { SpanLog } from './span-log.ts'

/*
 * A span begins with state 0: it waits for its run to be complete, or for the run's scores to be acknowledged.
 */

/** The scores of its run were acknowledged. It is kept, because later spans of the run create a revision. */
export const EMITTED = 1
/** It is no longer needed. */
export const FINISHED = 2

interface States {
  readonly ofIndex: Uint8Array
  unfinished: number
}

/**
 * The state of every span and log record on the log. A record leaves the log when all of it is finished. Finished parts of a record are
 * saved before that; otherwise, after a crash, the rest would look like incomplete runs.
 */
export class RecordStates {
  readonly #log: Pick<SpanLog, 'update'>
  readonly #records = new Map<number, States>()
  readonly #changed = new Map<number, States>()

  constructor(log: Pick<SpanLog, 'update'>) {
    this.#log = log
  }

  /**
   * Adds a record that was read.
   *
   * @param count the number of its spans and log records
   * @param known their saved states, if any
   */
  begin(offset: number, count: number, known: Uint8Array | undefined): void {
    const ofIndex = new Uint8Array(count)
    if (known !== undefined) ofIndex.set(known.subarray(0, count))
    let unfinished = 0
    for (const state of ofIndex) if (state !== FINISHED) unfinished += 1
    const states = { ofIndex, unfinished }
    this.#records.set(offset, states)
    if (unfinished === 0) this.#changed.set(offset, states)
  }

  /** The state of one span or log record. */
  get(offset: number, index: number): number {
    return this.#records.get(offset)?.ofIndex[index] ?? FINISHED
  }

  /** Changes a state. States only increase. */
  set(offset: number, index: number, state: number): void {
    const states = this.#records.get(offset)
    const before = states?.ofIndex[index]
    if (states === undefined || before === undefined || before >= state) return
    states.ofIndex[index] = state
    if (state === FINISHED) states.unfinished -= 1
    this.#changed.set(offset, states)
  }

  /** Writes the changes to the log. */
  write(): void {
    if (this.#changed.size === 0) return
    const finished: number[] = []
    const states = new Map<number, Uint8Array>()
    for (const [offset, { ofIndex, unfinished }] of this.#changed) {
      if (unfinished > 0) {
        states.set(offset, ofIndex)
        continue
      }
      finished.push(offset)
      this.#records.delete(offset)
    }
    this.#changed.clear()
    this.#log.update({ finished, states })
  }
}

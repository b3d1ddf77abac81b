import type { RecordBody } from '../log/span-log.ts'
import type { HeldBytes } from './span-content.ts'

/**
 * The request bodies in memory that spans or log records hold. Each has an owner: the unit with which it is settled. Above a limit, those
 * of the oldest owners are released, and are read from the log again.
 */
export class HeldContents<Owner extends object> {
  readonly #maxBytes: number
  /** What each owner holds, in the order in which owners started to. */
  readonly #owners = new Map<Owner, HeldBytes[]>()
  #bytes = 0

  /** @param maxBytes most bytes of bodies in memory */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes of bodies in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** Holds a body for a span or a log record. */
  add(owner: Owner, held: HeldBytes, body: RecordBody): void {
    if (held.body !== undefined) return
    held.body = body
    if (body.holders === 0) this.#bytes += body.bytes.byteLength
    body.holders += 1
    this.adopt(owner, held)
    if (this.#bytes > this.#maxBytes) this.#dropOldest()
  }

  /** Gives a span or log record a further owner. The first owner that releases it decides. */
  adopt(owner: Owner, held: HeldBytes): void {
    const list = this.#owners.get(owner)
    if (list === undefined) this.#owners.set(owner, [held])
    else list.push(held)
  }

  /** An owner needs nothing for itself any more, because everything has a further owner. */
  disown(owner: Owner): void {
    this.#owners.delete(owner)
  }

  /** Moves everything from one owner to another. */
  move(from: Owner, into: Owner): void {
    const moved = this.#owners.get(from)
    if (moved === undefined) return
    this.#owners.delete(from)
    const list = this.#owners.get(into)
    if (list === undefined) this.#owners.set(into, moved)
    else for (const held of moved) list.push(held)
  }

  /** Releases everything of an owner. */
  drop(owner: Owner): void {
    const list = this.#owners.get(owner)
    if (list === undefined) return
    this.#owners.delete(owner)
    for (const held of list) this.#release(held)
  }

  #dropOldest(): void {
    // Releases a tenth more than needed, so that the next span does not trigger it again.
    const goal = this.#maxBytes * 0.9
    for (const owner of this.#owners.keys()) {
      if (this.#bytes <= goal) return
      this.drop(owner)
    }
  }

  #release(held: HeldBytes): void {
    const { body } = held
    if (body === undefined) return
    held.body = undefined
    body.holders -= 1
    if (body.holders === 0) this.#bytes -= body.bytes.byteLength
  }
}

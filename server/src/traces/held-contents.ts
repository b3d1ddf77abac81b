import type { RecordBody } from '../log/span-log.ts'
import type { HeldBytes } from './span-content.ts'

/**
 * The bodies of requests that are in memory because spans or log records hold them. Each has an owner: the unit that it is settled
 * with. Above a limit, those of the oldest owners are let go of, and read from the log again.
 */
export class HeldContents<Owner extends object> {
  readonly #maxBytes: number
  /** What each owner holds; owners in the order in which they began to. */
  readonly #owners = new Map<Owner, HeldBytes[]>()
  #bytes = 0

  /** @param maxBytes Bytes of bodies that may be in memory. */
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

  /** A span or a log record has a further owner: the first that lets go of it does. */
  adopt(owner: Owner, held: HeldBytes): void {
    const list = this.#owners.get(owner)
    if (list === undefined) this.#owners.set(owner, [held])
    else list.push(held)
  }

  /** An owner needs nothing for itself any more: all of it has a further owner. */
  disown(owner: Owner): void {
    this.#owners.delete(owner)
  }

  /** What one owner holds belongs to another one now. */
  move(from: Owner, into: Owner): void {
    const moved = this.#owners.get(from)
    if (moved === undefined) return
    this.#owners.delete(from)
    const list = this.#owners.get(into)
    if (list === undefined) this.#owners.set(into, moved)
    else for (const held of moved) list.push(held)
  }

  /** Nothing of an owner needs to be in memory. */
  drop(owner: Owner): void {
    const list = this.#owners.get(owner)
    if (list === undefined) return
    this.#owners.delete(owner)
    for (const held of list) this.#release(held)
  }

  #dropOldest(): void {
    // A tenth more than needed is dropped, so that the next span is not the next reason.
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

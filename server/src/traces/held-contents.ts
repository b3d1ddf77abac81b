import { releaseBody } from '../log/release-body.ts'
import type { RecordBody } from '../log/span-log.ts'
import type { HeldBytes } from './span-content.ts'

/** Limits of the bodies in memory. */
export interface HeldContentsLimits {
  /** Maximum bytes of bodies in memory. */
  readonly maxBytes: number
  /** An owner that holds bodies for longer than this waits for something that may never arrive. */
  readonly usualMs: number
}

/** What an owner holds. */
interface Holding {
  readonly sinceMs: number
  held: HeldBytes[]
}

/**
 * The request bodies in memory that spans or log records hold. Each has an owner: the unit with which it is settled. At the limit, the
 * bodies of owners that wait for unusually long are released. If there are none, a new body is not held, because those before it are
 * needed earlier. What is not held is read from the log.
 */
export class HeldContents<Owner extends object> {
  readonly #limits: HeldContentsLimits
  /** What each owner holds, in the order in which owners started to. */
  readonly #owners = new Map<Owner, Holding>()
  #bytes = 0
  /** Since when the first owner held, at the last look. Finding the first entry of a `Map` takes long if many before it were removed. */
  #oldestMs = Number.NEGATIVE_INFINITY

  constructor(limits: HeldContentsLimits) {
    this.#limits = limits
  }

  /** Bytes of bodies in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** Holds a body for a span or a log record, if there is room for it. */
  add(owner: Owner, held: HeldBytes, body: RecordBody, nowMs: number): void {
    if (held.body !== undefined) return
    if (body.holders === 0) {
      const { byteLength } = body.bytes
      if (!this.#hasRoom(byteLength, nowMs)) return
      this.#bytes += byteLength
    }
    held.body = body
    body.holders += 1
    this.adopt(owner, held, nowMs)
  }

  /** Gives a span or log record a further owner. The first owner that releases it decides. */
  adopt(owner: Owner, held: HeldBytes, nowMs: number): void {
    const holding = this.#owners.get(owner)
    if (holding === undefined) this.#owners.set(owner, { sinceMs: nowMs, held: [held] })
    else holding.held.push(held)
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
    const holding = this.#owners.get(into)
    if (holding === undefined) this.#owners.set(into, moved)
    else {
      // The shorter list is appended to the longer one, because a trace may grow from its leaves.
      const [longer, shorter] =
        holding.held.length >= moved.held.length ? [holding.held, moved.held] : [moved.held, holding.held]
      for (const held of shorter) longer.push(held)
      holding.held = longer
    }
  }

  /** Releases everything of an owner. */
  drop(owner: Owner): void {
    const holding = this.#owners.get(owner)
    if (holding === undefined) return
    this.#owners.delete(owner)
    for (const held of holding.held) this.#release(held)
  }

  /** Whether so many more bytes can be held, once owners that wait for unusually long have released theirs. */
  #hasRoom(bytes: number, nowMs: number): boolean {
    const { maxBytes, usualMs } = this.#limits
    if (this.#bytes + bytes <= maxBytes) return true
    if (nowMs - this.#oldestMs <= usualMs) return false
    for (const [owner, { sinceMs }] of this.#owners) {
      this.#oldestMs = sinceMs
      if (nowMs - sinceMs <= usualMs) return false
      this.drop(owner)
      if (this.#bytes + bytes <= maxBytes) return true
    }
    this.#oldestMs = nowMs
    return false
  }

  #release(held: HeldBytes): void {
    const { body } = held
    if (body === undefined) return
    held.body = undefined
    body.holders -= 1
    if (body.holders > 0) return
    this.#bytes -= body.bytes.byteLength
    releaseBody(body)
  }
}

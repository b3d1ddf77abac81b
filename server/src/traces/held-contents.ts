import { releaseBody } from '../log/record-body.ts'
import type { RecordBody, RecordBytes } from '../log/record-body.ts'

/**
 * The position of a span or log record in its request's body. It is decoded on receipt, to see what it is, and again when its run is
 * complete: decoded spans cost the garbage collector more while they wait than decoding does.
 */
export interface HeldBytes {
  /** `undefined` if it is not in memory, or not needed. */
  body: RecordBody | undefined
  readonly start: number
  readonly end: number
}

/** The position of the span or log record with an index. It is not held yet. */
export function placeIn({ places }: RecordBytes, index: number): HeldBytes {
  return { body: undefined, start: places[2 * index] ?? 0, end: places[2 * index + 1] ?? 0 }
}

/** What holds bodies together: a trace. */
export interface BodyOwner {
  /** How many of its spans and log records hold a body. Only `HeldContents` writes it. */
  bodies: number
  /** All its spans and log records. */
  contents(): Iterable<HeldBytes>
}

/** Limits of the bodies in memory. */
export interface HeldContentsLimits {
  /** Maximum bytes of bodies in memory. */
  readonly maxBytes: number
  /** An owner that holds bodies for longer than this waits for something that may never arrive. */
  readonly usualMs: number
}

/**
 * The request bodies in memory that spans or log records hold. At the limit, the bodies of owners that wait for unusually long are released. If
 * there are none, a new body is not held, because those before it are needed earlier. What is not held is read from the log.
 */
export class HeldContents {
  readonly #limits: HeldContentsLimits
  /** Since when each owner has held bodies, in that order. */
  readonly #owners = new Map<BodyOwner, number>()
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
  add(owner: BodyOwner, held: HeldBytes, body: RecordBody, nowMs: number): void {
    if (held.body !== undefined) return
    if (body.holders === 0) {
      const { byteLength } = body.bytes
      if (!this.#hasRoom(byteLength, nowMs)) return
      this.#bytes += byteLength
    }
    held.body = body
    body.holders += 1
    if (owner.bodies === 0) this.#owners.set(owner, nowMs)
    owner.bodies += 1
  }

  /** Releases the body of a span or log record. */
  release(owner: BodyOwner, held: HeldBytes): void {
    const { body } = held
    if (body === undefined) return
    held.body = undefined
    owner.bodies -= 1
    if (owner.bodies === 0) this.#owners.delete(owner)
    body.holders -= 1
    if (body.holders > 0) return
    this.#bytes -= body.bytes.byteLength
    releaseBody(body)
  }

  /** Releases everything of an owner. */
  drop(owner: BodyOwner): void {
    if (owner.bodies > 0) for (const held of owner.contents()) this.release(owner, held)
  }

  /** Whether so many more bytes can be held, once owners that wait for unusually long have released theirs. */
  #hasRoom(bytes: number, nowMs: number): boolean {
    const { maxBytes, usualMs } = this.#limits
    if (this.#bytes + bytes <= maxBytes) return true
    if (nowMs - this.#oldestMs <= usualMs) return false
    for (const [owner, sinceMs] of this.#owners) {
      this.#oldestMs = sinceMs
      if (nowMs - sinceMs <= usualMs) return false
      this.drop(owner)
      if (this.#bytes + bytes <= maxBytes) return true
    }
    this.#oldestMs = nowMs
    return false
  }
}

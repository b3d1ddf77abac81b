import { nodeCrypto } from '../spans/node-crypto.ts'

/**
 * Where a trace lies between 0 (included) and 1 (excluded), from its trace id alone: the first 52 bits of SHA-256 of `spanscore:`
 * and the trace id. A rate keeps the traces below it, so that what is kept at one rate is kept at every higher one, and two
 * scorers with the same rate score the same runs. Every process and every restart finds the same number; a tracer's own
 * sampler, which reads the last 56 bits of the trace id, decides independently of it.
 *
 * Callers who send `traceparent` choose the trace id. With a salt the digest is an HMAC of it: a caller who does not know the
 * salt cannot choose a trace id that is always judged, or never.
 */
export class SamplePoint {
  readonly #traceId: string
  readonly #salt: string | undefined
  #value: number | undefined

  /**
   * @param traceId 32 lower-case hex digits.
   * @param salt A secret that is shared by the processes that decide alike.
   */
  constructor(traceId: string, salt?: string) {
    this.#traceId = traceId
    this.#salt = salt
  }

  /** A place that was worked out elsewhere. @param value From 0 on, below 1. */
  static at(value: number): SamplePoint {
    const point = new SamplePoint('')
    point.#value = value
    return point
  }

  /** Worked out when it is first asked for: a hash is not free. */
  get value(): number {
    this.#value ??= valueOf(this.#traceId, this.#salt)
    return this.#value
  }

  /** Whether the trace is kept at a rate: none at 0, all at 1. */
  isBelow(rate: number): boolean {
    return rate >= 1 || (rate > 0 && this.value < rate)
  }
}

function valueOf(traceId: string, salt: string | undefined): number {
  const text = `spanscore:${traceId}`
  const { createHmac, hash } = nodeCrypto()
  const digest =
    salt === undefined ? hash('sha256', text, 'hex') : createHmac('sha256', salt).update(text).digest('hex')
  // 13 hex digits are 52 bits, which a double holds exactly.
  return Number.parseInt(digest.slice(0, 13), 16) / 2 ** 52
}

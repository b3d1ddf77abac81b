import { nodeCrypto } from '../spans/node-crypto.ts'

/**
 * A number from 0 (included) to 1 (excluded) that depends on the trace id alone: the first 52 bits of SHA-256 of `spanscore:` and the
 * trace id. A rate keeps the traces whose number is below it. So a trace that one rate keeps is kept by every higher rate, and two
 * scorers with the same rate score the same runs. Every process computes the same number. The tracer's own sampler, which reads
 * the last 56 bits of the trace id, decides independently.
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

  /** The number. It is computed at the first use, because hashing takes time. */
  get value(): number {
    this.#value ??= valueOf(this.#traceId, this.#salt)
    return this.#value
  }

  /** Whether a rate keeps the trace. 0 keeps none, 1 keeps all. */
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

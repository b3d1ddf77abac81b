import { nodeCrypto } from '../spans/node-crypto.ts'

/**
 * A run's place between 0 (included) and 1 (excluded), from its trace id alone: the first 52 bits of SHA-256 of `spanscore:`
 * and the trace id. Every process, restart and scorer finds the same number, and a tracer's own sampler, which reads the
 * last 56 bits of the trace id, decides independently of it.
 *
 * Callers who send `traceparent` choose the trace id. With a salt the digest is an HMAC of it: who does not know the salt cannot
 * choose a trace id that is never judged, or always.
 *
 * @param traceId 32 lower-case hex digits.
 * @param salt A secret that processes share which are to decide alike.
 */
export function uniformOf(traceId: string, salt?: string): number {
  const text = `spanscore:${traceId}`
  const { createHmac, hash } = nodeCrypto()
  const digest =
    salt === undefined ? hash('sha256', text, 'hex') : createHmac('sha256', salt).update(text).digest('hex')
  // 13 hex digits are 52 bits, which a double holds exactly.
  return Number.parseInt(digest.slice(0, 13), 16) / 2 ** 52
}

/**
 * Whether a run is kept at this rate: its place lies below it. What is kept at a rate is therefore kept at every higher one,
 * and two scorers with the same rate score the same runs.
 *
 * @param rate 0 keeps none, 1 keeps all.
 * @param traceId 32 lower-case hex digits.
 */
export function decide(rate: number, traceId: string): boolean {
  // No hash where the answer is known without it.
  return rate >= 1 || (rate > 0 && uniformOf(traceId) < rate)
}

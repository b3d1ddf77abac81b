/** The part of the API's `TraceState` that is read. */
export interface TraceStateLike {
  get(key: string): string | undefined
}

/** 1 to 14 hex digits; trailing zeros are left off on the wire. */
const THRESHOLD = /(?:^|;)th:([0-9a-f]{1,14})(?:;|$)/

const TWO_TO_56 = 2 ** 56

/**
 * The probability with which the tracer's sampler keeps traces like this one: (2^56 − T) / 2^56, the reciprocal of the
 * adjusted count, with T the rejection threshold in tracestate's `ot=th:` (OpenTelemetry, "TraceState: Probability Sampling").
 *
 * @param traceState The span context's; most samplers write no threshold into it.
 * @param configured What the application says that its sampler keeps, where tracestate does not.
 * @returns Between 0 and 1; `undefined` where nobody says it: an unknown probability is not 1.
 */
export function upstreamProbability(traceState: TraceStateLike | undefined, configured?: number): number | undefined {
  const digits = THRESHOLD.exec(traceState?.get('ot') ?? '')?.[1]
  if (digits === undefined) return configured
  return (TWO_TO_56 - Number.parseInt(digits.padEnd(14, '0'), 16)) / TWO_TO_56
}

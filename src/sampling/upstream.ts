/** The part of the API's `TraceState` that is read. */
export interface TraceStateLike {
  get(key: string): string | undefined
}

/**
 * Where the probability comes from with which the tracer keeps a trace: a number that the application gives, or `tracestate`,
 * whose sender the application trusts: a caller that may write tracestate may decide how much its runs count.
 */
export type UpstreamSource = number | 'tracestate'

/** 1 to 14 hex digits; trailing zeros are left off on the wire. */
const THRESHOLD = /(?:^|;)th:([0-9a-f]{1,14})(?:;|$)/

const TWO_TO_56 = 2 ** 56

/**
 * The probability with which the tracer kept a trace. From tracestate it is (2^56 − T) / 2^56, the reciprocal of the adjusted
 * count, with T the rejection threshold in `ot=th:` (OpenTelemetry, "TraceState: Probability Sampling").
 *
 * @returns Above 0, at most 1; `undefined` where it is not known.
 */
export function upstreamProbability(
  source: UpstreamSource | undefined,
  traceState: TraceStateLike | undefined,
): number | undefined {
  if (source !== 'tracestate') return source
  const digits = THRESHOLD.exec(traceState?.get('ot') ?? '')?.[1]
  if (digits === undefined) return undefined
  return (TWO_TO_56 - Number.parseInt(digits.padEnd(14, '0'), 16)) / TWO_TO_56
}

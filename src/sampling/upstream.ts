/** The part of the API's `TraceState` that is read. */
export interface TraceStateLike {
  get(key: string): string | undefined
}

/**
 * The source of the probability with which the tracer keeps a trace: a number that the application configures, or `tracestate`. A
 * caller that can write tracestate decides how much its runs count, so the application must trust its callers.
 */
export type UpstreamSource = number | 'tracestate'

/** 1 to 14 hex digits; trailing zeros are left off on the wire. */
const THRESHOLD = /(?:^|;)th:([0-9a-f]{1,14})(?:;|$)/

const TWO_TO_56 = 2 ** 56

/**
 * The probability with which the tracer kept a trace. From tracestate it is (2^56 − T) / 2^56, the reciprocal of the adjusted
 * count, with T the rejection threshold in `ot=th:` (OpenTelemetry, "TraceState: Probability Sampling").
 *
 * @returns A number above 0, at most 1; `undefined` if it is not known.
 */
export function upstreamProbability(
  source: UpstreamSource | undefined,
  traceState: TraceStateLike | undefined,
): number | undefined {
  if (source !== 'tracestate') return source
  const entry: unknown = traceState?.get('ot')
  const digits = typeof entry === 'string' ? THRESHOLD.exec(entry)?.[1] : undefined
  if (digits === undefined) return undefined
  return (TWO_TO_56 - Number.parseInt(digits.padEnd(14, '0'), 16)) / TWO_TO_56
}

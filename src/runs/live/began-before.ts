import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'

/** Whether this is an SDK's own span that began before a time: milliseconds since the epoch. */
export function beganBefore<Span extends object>(span: Span, timeMs: number): span is Span & SdkSpanLike {
  if (!('startTime' in span) || !('attributes' in span)) return false
  const { startTime } = span
  return Array.isArray(startTime) && Number(startTime[0]) * 1000 + Number(startTime[1]) / 1e6 < timeMs
}

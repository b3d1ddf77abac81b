import type { HeldSpan, RunUnit } from './held-span.ts'

/** Creates an empty unit. */
export function createUnit(traceId: string, top: HeldSpan, nowMs: number, state: 'open' | 'emitted'): RunUnit {
  return {
    dueSlot: undefined,
    traceId,
    top,
    spans: [],
    lastSeenMs: nowMs,
    firstSeenMs: nowMs,
    state,
    lingersUntilMs: 0,
    recognised: 0,
  }
}

/** Adds a span to a unit. */
export function addToUnit(unit: RunUnit, span: HeldSpan, nowMs: number): void {
  // Most units start with a child of the next span, and are merged into its unit, so the list starts with one place.
  if (unit.spans.length === 0) unit.spans = [span]
  else unit.spans.push(span)
  unit.lastSeenMs = Math.max(unit.lastSeenMs, nowMs)
  unit.recognised += span.isRecognised ? 1 : 0
}

/** Moves all spans of one unit into another. */
export function mergeUnits(from: RunUnit, into: RunUnit): void {
  // The shorter list is appended to the longer one, so that a trace that grows from its leaves costs n log n.
  const [longer, shorter] = into.spans.length >= from.spans.length ? [into.spans, from.spans] : [from.spans, into.spans]
  for (const span of shorter) longer.push(span)
  into.spans = longer
  into.lastSeenMs = Math.max(into.lastSeenMs, from.lastSeenMs)
  into.firstSeenMs = Math.min(into.firstSeenMs, from.firstSeenMs)
  into.lingersUntilMs = Math.max(into.lingersUntilMs, from.lingersUntilMs)
  into.recognised += from.recognised
}

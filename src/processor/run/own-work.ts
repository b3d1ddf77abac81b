import { SCOPE_NAME } from '../../emit/signal-providers.ts'
import { isIsolated } from '../../scoring/isolation.ts'
import type { EndedSpan, OpenSpan } from '../sdk-types.ts'

/**
 * The spans of our own work: a judge's calls, and what callbacks start. Where no context manager is registered, tracing cannot be
 * suppressed around that work, and its spans are dropped one by one.
 */
export class OwnWork {
  readonly #spans = new WeakSet()
  /** Most applications never have one, and their spans are not looked up. */
  #hasAny = false

  /** Whether a span that starts goes nowhere. */
  drops(span: OpenSpan): boolean {
    if (!isIsolated() || isLateSpan(span)) return false
    this.#spans.add(span)
    this.#hasAny = true
    return true
  }

  /** Whether a span was dropped when it started. */
  hasDropped(span: object): boolean {
    return this.#hasAny && this.#spans.has(span)
  }
}

/** Scores that we wrote as spans go their way unread. */
export function isLateSpan(span: EndedSpan): boolean {
  return (span.instrumentationScope ?? span.instrumentationLibrary)?.name === SCOPE_NAME
}

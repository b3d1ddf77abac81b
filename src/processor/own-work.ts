import { TraceFlags } from '@opentelemetry/api'

import { SCOPE_NAME } from '../emit/signal-providers.ts'
import { isIsolated } from '../scoring/isolation.ts'
import type { EndedSpan, OpenSpan } from '../spans/sdk-types.ts'

/**
 * Spans of our own work: judge calls, and whatever callbacks start. Without a context manager, tracing of that work cannot be suppressed,
 * so its spans are dropped one by one.
 */
export class OwnWork {
  /** The spans that were dropped when they started. Most applications never have any, so their spans need no lookup. */
  dropped: WeakSet<object> | undefined

  /** Whether to drop a span that starts. */
  drops(span: OpenSpan): boolean {
    if (!isIsolated() || isLateSpan(span)) return false
    this.dropped ??= new WeakSet()
    this.dropped.add(span)
    unsample(span)
    return true
  }
}

/** Whether a span is one of our late scores, which is passed on without being read. */
export function isLateSpan(span: EndedSpan): boolean {
  return (span.instrumentationScope ?? span.instrumentationLibrary)?.name === SCOPE_NAME
}

/** Processors beside ours get the span, too. Those of the SDK export no span that is not sampled. */
function unsample(span: OpenSpan): void {
  try {
    Reflect.set(span.spanContext(), 'traceFlags', TraceFlags.NONE)
  } catch {}
}

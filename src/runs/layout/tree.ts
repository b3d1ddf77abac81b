import type { SourceSpan } from '../../spans/source-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { nestDuplicateCalls } from './duplicates.ts'
import { nestLost } from './lost-parents.ts'
import { nestBelowTools } from './nest-below-tools.ts'
import { regroupFlat } from './regroup-flat.ts'

/**
 * Orders the recognised spans of one trace by their tree: parents before children, siblings by start, end and id, whatever the input order.
 * It cuts cycles, and does not recurse.
 */
export function arrange(linked: readonly TraceSpan[]): readonly TraceSpan[] {
  const spans = sorted(linked)
  regroupFlat(spans)
  nestBelowTools(spans)
  cutCycles(spans)
  nestLost(spans)
  nestDuplicateCalls(spans)
  return inOrder(spans)
}

/** Spans of this process arrive ordered by start. */
function sorted(spans: readonly TraceSpan[]): readonly TraceSpan[] {
  let before: TraceSpan | undefined
  for (const span of spans) {
    if (before !== undefined && compareSpans(before.span, span.span) > 0) {
      return spans.toSorted((left, right) => compareSpans(left.span, right.span))
    }
    before = span
  }
  return spans
}

/**
 * Compares by start, then by the order of the hooks if known, else by end and id. Start times tie, and the result must not depend on the
 * order of arrival.
 */
export function compareSpans(left: SourceSpan, right: SourceSpan): number {
  return (
    left.startTimeMs - right.startTimeMs ||
    (left.startOrder ?? 0) - (right.startOrder ?? 0) ||
    left.endTimeMs - right.endTimeMs ||
    (left.spanId < right.spanId ? -1 : left.spanId > right.spanId ? 1 : 0)
  )
}

function cutCycles(spans: readonly TraceSpan[]): void {
  for (const start of spans) {
    let span: TraceSpan | undefined = start
    while (span?.mark === 0) {
      span.mark = 1
      if (span.parent?.mark === 1) {
        span.parent = undefined
        span.isOrphan = true
      }
      span = span.parent
    }
    for (span = start; span?.mark === 1; span = span.parent) span.mark = 2
  }
}

function inOrder(spans: readonly TraceSpan[]): readonly TraceSpan[] {
  const ordered: TraceSpan[] = []
  const roots: TraceSpan[] = []
  // The spans are sorted, so children and roots are sorted too.
  for (const span of spans) {
    if (span.parent === undefined) roots.push(span)
    else span.parent.addChild(span)
  }
  const add = (span: TraceSpan): void => {
    span.index = ordered.length
    ordered.push(span)
  }
  for (const root of roots) {
    add(root)
    let span: TraceSpan = root
    for (;;) {
      let next = span.firstChild
      while (next === undefined && span !== root) {
        next = span.nextSibling
        if (next === undefined) span = span.parent ?? root
      }
      if (next === undefined) break
      add(next)
      span = next
    }
  }
  return ordered
}

import type { AgentRun } from 'spanscore/engine'

import type { SettledSpans } from '../traces/trace-buffer.ts'
import type { HeldSpan } from '../traces/held-span.ts'

/**
 * The ids of the recognised spans that make up a run: all below its agent, or, where it has no agent, all that were settled
 * with it. Their number only grows, and is the same whoever counts: it is the revision of the run.
 */
export function spanIdsOf(run: AgentRun, { spans }: SettledSpans): readonly string[] {
  const top = spans.find((span) => span.spanId === run.spanId)
  const members = top === undefined || !top.isAnchor || spans.some((span) => span.isFlat) ? spans : below(top)
  return members.filter((span) => span.isRecognised).map((span) => span.spanId)
}

function below(top: HeldSpan): readonly HeldSpan[] {
  const found = [top]
  const seen = new Set(found)
  for (const span of found) {
    for (const child of span.children ?? []) {
      if (seen.has(child)) continue
      seen.add(child)
      found.push(child)
    }
  }
  return found
}

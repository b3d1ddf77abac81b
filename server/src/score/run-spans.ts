import type { AgentRun } from 'spanscore/engine'

import type { SettledSpans } from '../traces/trace-buffer.ts'
import { childrenOf } from '../traces/held-span.ts'
import type { HeldSpan } from '../traces/held-span.ts'

/** The spans of a run, and whether scores of it were already acknowledged. */
export interface RunMembers {
  /** Ordered by id. Their number is the run's revision: it only grows, and does not depend on the process. */
  readonly members: readonly HeldSpan[]
  readonly hasBeenScored: boolean
}

/** The recognised spans of a run: everything below its agent, or, without an agent, everything that was settled with it. */
export function membersOf(run: AgentRun, { spans }: SettledSpans): RunMembers {
  const top = spans.find((span) => span.spanId === run.spanId)
  const isAlone = top === undefined || !top.isAnchor || spans.some((span) => span.isFlat)
  const members = (isAlone ? spans : below(top)).filter((span) => span.isRecognised)
  return {
    members: members.toSorted((left, right) => (left.spanId < right.spanId ? -1 : 1)),
    hasBeenScored: top?.isEmitted ?? false,
  }
}

function below(top: HeldSpan): readonly HeldSpan[] {
  const found = [top]
  const seen = new Set(found)
  for (const span of found) {
    for (const child of childrenOf(span)) {
      if (seen.has(child)) continue
      seen.add(child)
      found.push(child)
    }
  }
  return found
}

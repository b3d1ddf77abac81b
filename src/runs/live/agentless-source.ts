import type { RunPlan } from '../layout/run-layout.ts'
import type { LiveRunSource } from './live-run.ts'
import { LiveSpan } from './live-span.ts'
import type { LiveGroup } from './live-span.ts'
import { readBytesOf } from '../read-bytes.ts'
import { readAhead } from './read-ahead.ts'

/** A run with a finished layout. Its calls may be in several groups. */
export function agentlessSource(group: LiveGroup, plan: RunPlan | undefined): LiveRunSource {
  const planned = plan === undefined ? [...group.spans] : [...plan.models, ...plan.tools]
  const spans = planned.filter((span) => span instanceof LiveSpan)
  return {
    version: 0,
    spanCount: spans.length,
    contentBytes: spans.reduce((sum, span) => sum + span.contentBytes, 0),
    readBytes: readBytesOf(spans),
    hasOpenSpans: false,
    plan: () => plan,
    freeze: () => undefined,
    readInSteps: () => readAhead(spans),
  }
}

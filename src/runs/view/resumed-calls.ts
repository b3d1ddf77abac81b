import type { ToolCallPart } from '../../model/message.ts'
import { toolCallsIn } from '../../spans/content/messages.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { inputOf } from '../trace-span.ts'

/**
 * The calls for which the earlier run of a resumed one waited, among others: those that its first request repeats last. Unless the agent's span
 * shows which were answered, some of them may have been made in the earlier run.
 */
export function resumedCalls({ root, models: [first] }: RunPlan): readonly ToolCallPart[] {
  const { resumption } = root
  if (resumption === undefined || first === undefined) return []
  const { answered, refused } = resumption
  if (refused !== undefined) return [refused]
  const rounds = inputOf(first)?.map((message) => (message.role === 'assistant' ? toolCallsIn([message]) : []))
  const last = rounds?.findLast((calls) => calls.length > 0) ?? []
  return answered === undefined ? last : last.filter(({ id }) => id !== undefined && answered.has(id))
}

/** Those of them that a person refused, as far as the agent's span shows it. */
export function refusedCalls({ root }: RunPlan, resumed: readonly ToolCallPart[]): readonly ToolCallPart[] {
  const { refused, refusals } = root.resumption ?? {}
  if (refused !== undefined) return [refused]
  return refusals?.length === resumed.length ? resumed.filter((_, index) => refusals[index]) : []
}

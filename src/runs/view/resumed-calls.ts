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
  const { answered } = resumption
  const rounds = inputOf(first)?.map((message) => (message.role === 'assistant' ? toolCallsIn([message]) : []))
  const last = rounds?.findLast((calls) => calls.length > 0) ?? []
  return answered === undefined ? last : last.filter(({ id }) => id !== undefined && answered.has(id))
}

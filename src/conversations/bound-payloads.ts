import type { AgentRun, Missing, ToolCall } from '../model/agent-run.ts'
import { toJsonText } from '../spans/json.ts'

/** Characters that arguments and results of a conversation may have together, as JSON. */
const MAX_PAYLOADS = 262_144

/**
 * Leaves out results, and then arguments, of the oldest calls, until the others fit into a conversation. `missing` of their runs names them.
 *
 * @param runs in the order of their starts
 */
export function boundPayloads(runs: readonly AgentRun[]): readonly AgentRun[] {
  let excess = -MAX_PAYLOADS
  for (const run of runs)
    for (const call of callsWithin(run)) excess += lengthOf(call.arguments) + lengthOf(call.result)
  if (excess <= 0) return runs
  const leaveOut = (run: AgentRun, fact: 'arguments' | 'result'): AgentRun => {
    if (excess <= 0) return run
    const missing: Missing[] = [...run.missing]
    const toolCalls = run.toolCalls.map((call, index): ToolCall => {
      const { [fact]: value, ...rest } = call
      if (value === undefined || excess <= 0) return call
      excess -= lengthOf(value)
      const what = `toolCalls[${index}].${fact}`
      if (!missing.some((each) => each.what === what)) missing.push({ what, why: 'limit' })
      return rest
    })
    return { ...run, toolCalls, missing, children: run.children.map((child) => leaveOut(child, fact)) }
  }
  return runs.map((run) => leaveOut(run, 'result')).map((run) => leaveOut(run, 'arguments'))
}

function* callsWithin({ toolCalls, children }: AgentRun): Generator<ToolCall> {
  yield* toolCalls
  for (const child of children) yield* callsWithin(child)
}

function lengthOf(value: unknown): number {
  return value === undefined ? 0 : (toJsonText(value)?.length ?? 0)
}

import type { SpanOutcome } from '../../spans/dialect.ts'
import type { SpanFacts } from '../../spans/facts.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { callsOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { answerIn } from './same-answer.ts'

/**
 * Whether the answer of the last model call is recorded, and is only calls of tools: content is captured, and nothing came after. The run may have
 * been stopped, or what a tool returned is its answer.
 */
export function endsOnTools({ models }: RunPlan): boolean {
  const last = models.at(-1)
  return last !== undefined && callsOf(last).length > 0 && answerIn(last) === undefined
}

/** Whether a tool was aborted after the last model call: some libraries end the agent's own span successfully then. */
export function endsInAbortedTool({ models, tools }: RunPlan): boolean {
  const last = models.at(-1)?.span.startTimeMs ?? 0
  return tools.some((node) => node.outcome.status === 'aborted' && node.span.startTimeMs >= last)
}

/**
 * Whether a tool was still running when its run was aborted, in libraries that then end its span as if it had returned nothing. Had it
 * returned, the model would have been called again.
 */
export function wasCutOff({ models, root }: RunPlan, tool: TraceSpan): boolean {
  if (root.outcome.status !== 'aborted' || tool.outcome.status !== 'unknown' || root.dialect.toolSpans !== 'always')
    return false
  return tool.toolResult === undefined && tool.span.startTimeMs >= (models.at(-1)?.span.startTimeMs ?? 0)
}

/** Whether the work failed or was aborted. */
export function isFailed(outcome: SpanOutcome): boolean {
  return outcome.status === 'error' || outcome.status === 'aborted'
}

/** Whether the agent's span ended on tool calls without a summary: the span of the next model call is missing. */
export function endedWithoutSum(root: SpanFacts, last: SpanFacts): 'error' | 'aborted' | undefined {
  const isCut = last.toolCalls.length > 0 && isEmpty(root.usage) && !isEmpty(last.usage)
  return isCut ? root.dialect.quirks?.endsWithoutSum : undefined
}

/** `tool_calls`, `toolUse`, `function_call` and similar reasons mean that the model waits for a result. */
export function isForTools(reason: string): boolean {
  return /tool|function/i.test(reason)
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

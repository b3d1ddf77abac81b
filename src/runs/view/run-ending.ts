import type { SpanOutcome } from '../../spans/dialect.ts'
import type { SpanFacts } from '../../spans/facts.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import type { TraceSpan } from '../trace-span.ts'

/**
 * How a run ended. The agent's own status comes first, then that of the last model call, because some streams only set it on the step. A
 * final answer without an error is a success.
 *
 * @param last the last model call, if it is not the run's own span
 * @param agent the agent that worked last, if it is not the run's own span
 */
export function endingOf(
  root: SpanFacts,
  last: SpanFacts | undefined,
  agent: SpanFacts | undefined,
  hasAnswer: () => boolean,
): SpanOutcome {
  if (isFailed(root.outcome)) return root.outcome
  if (root.outcome.status === 'unknown' && agent !== undefined && isFailed(agent.outcome)) return agent.outcome
  if (last !== undefined && isFailed(last.outcome)) return last.outcome
  const cut = last === undefined ? undefined : endedWithoutSum(root, last)
  if (cut !== undefined) return cut === 'error' ? { status: 'error', error: {} } : { status: 'aborted' }
  if (root.outcome.status === 'ok' || last?.outcome.status === 'ok') return { status: 'ok' }
  const call = last ?? root
  // It ended without an error, and nothing else was recorded: OpenTelemetry's "unset" counts as success.
  if (call.role === 'model' && call.output === undefined && call.input === undefined) return { status: 'ok' }
  const reasons = call.model?.finishReasons ?? []
  return { status: reasons.some((reason) => !isForTools(reason)) || hasAnswer() ? 'ok' : 'unknown' }
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
function endedWithoutSum(root: SpanFacts, last: SpanFacts): 'error' | 'aborted' | undefined {
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

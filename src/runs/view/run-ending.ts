import type { SpanOutcome } from '../../spans/dialect.ts'
import type { SpanFacts } from '../../spans/facts.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import type { TraceSpan } from '../trace-span.ts'

/**
 * How a run ended. The agent's own word first; where it says nothing, that of the last model call, which streams leave on
 * the step only; a final answer with nothing against it is a good end.
 *
 * @param last The last model call, where it is not the run's own span.
 * @param agent The agent that worked last, where it is not the run's own span.
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
  // Ended, no error, and nothing that could say more was recorded: OpenTelemetry's "unset" is a good end.
  if (call.role === 'model' && call.output === undefined && call.input === undefined) return { status: 'ok' }
  const reasons = call.model?.finishReasons ?? []
  return { status: reasons.some(isFinal) || hasAnswer() ? 'ok' : 'unknown' }
}

/** Whether a tool was aborted after the last call of a model: some libraries end the agent's own span well then. */
export function endsInAbortedTool({ models, tools }: RunPlan): boolean {
  const last = models.at(-1)?.span.startTimeMs ?? 0
  return tools.some((node) => node.outcome.status === 'aborted' && node.span.startTimeMs >= last)
}

/**
 * Whether a tool was still at work when its run was aborted, in libraries that end its span then as if it had returned nothing: had
 * it returned, the model would have been called again.
 */
export function wasCutOff({ models, root }: RunPlan, tool: TraceSpan): boolean {
  if (root.outcome.status !== 'aborted' || tool.outcome.status !== 'unknown' || root.dialect.toolSpans !== 'always')
    return false
  return tool.toolResult === undefined && tool.span.startTimeMs >= (models.at(-1)?.span.startTimeMs ?? 0)
}

/** Whether the work failed or was given up. */
export function isFailed(outcome: SpanOutcome): boolean {
  return outcome.status === 'error' || outcome.status === 'aborted'
}

/** The agent's span ended on tool calls without summing up: the span of the next model call never came. */
function endedWithoutSum(root: SpanFacts, last: SpanFacts): 'error' | 'aborted' | undefined {
  const isCut = last.toolCalls.length > 0 && isEmpty(root.usage) && !isEmpty(last.usage)
  return isCut ? root.dialect.endsWithoutSum : undefined
}

/** `tool_calls`, `toolUse`, `function_call` and their like: the model waits for an answer. */
function isFinal(reason: string): boolean {
  return !/tool|function/i.test(reason)
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0
}

import type { Message } from '../spans/message.ts'
import { responsesIn } from './join-tool-calls.ts'
import type { RunPlan } from './plan.ts'
import { compareSpans } from './tree.ts'

/**
 * Puts runs together that a library spread over several traces, because it starts each span without a parent: bare model
 * calls that answer one another's tool calls by id, and the bare calls of a graph whose own span lists its messages.
 */
export function joinSpread(plans: readonly RunPlan[]): readonly RunPlan[] {
  const spread = plans.filter((plan) => plan.root.facts.role === 'model' && plan.root.span.parentSpanId === undefined)
  if (spread.length === 0 || plans.length === 1) return plans
  spread.sort((left, right) => compareSpans(left.root.span, right.root.span))
  const graphs = plans.filter((plan) => plan.models.length === 0 && plan.root.facts.dialect.transcript !== undefined)
  const joined = new Set<RunPlan>()
  const byCallId = new Map<string, RunPlan>()
  for (const plan of spread) {
    const answered = responsesIn(plan.models[0]?.node.facts.input).map((response) => response.id ?? '')
    const earlier = answered.map((id) => byCallId.get(id)).find((found) => found !== undefined)
    const target = graphOf(plan, graphs) ?? earlier
    for (const model of plan.models) {
      for (const call of model.node.facts.toolCalls) if (call.id !== undefined) byCallId.set(call.id, target ?? plan)
    }
    if (target === undefined) continue
    take(target, plan)
    joined.add(plan)
  }
  return joined.size === 0 ? plans : plans.filter((plan) => !joined.has(plan))
}

function take(target: RunPlan, plan: RunPlan): void {
  target.models.push(...plan.models)
  target.tools.push(...plan.tools)
  target.models.sort((left, right) => compareSpans(left.node.span, right.node.span))
  target.tools.sort((left, right) => compareSpans(left.node.span, right.node.span))
  if (!plan.isComplete) target.isComplete = false
}

/** The only graph that was at work at the time, and was asked the same. */
function graphOf(plan: RunPlan, graphs: readonly RunPlan[]): RunPlan | undefined {
  const { span, facts } = plan.root
  const found = graphs.filter(
    ({ root }) =>
      root.facts.dialect.name === facts.dialect.name &&
      root.span.startTimeMs <= span.startTimeMs &&
      root.span.endTimeMs >= span.startTimeMs &&
      lastQuestion(root.facts.input) === lastQuestion(facts.input),
  )
  return found.length === 1 ? found[0] : undefined
}

function lastQuestion(messages: readonly Message[] | undefined): string | undefined {
  return messages?.findLast((message) => message.role === 'user' && message.text !== undefined)?.text
}

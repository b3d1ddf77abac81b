import { canonicalJson, isRecord, parseJson } from '../../spans/json.ts'
import type { ToolCallPart } from '../../model/message.ts'
import { agentOf } from '../layout/run-layout.ts'
import type { RunPlan } from '../layout/run-layout.ts'
import { callsOf } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { idOf, nameOf } from './join-tool-calls.ts'
import { assistantText } from './message-text.ts'

/**
 * The tool through which the model gave a structured answer: no tool of that name ran, and the arguments of its call are the answer on the
 * agent's own span. Libraries offer such a tool beside the agent's tools, because more models can call tools than follow a schema.
 */
export function outputToolOf(plan: RunPlan): string | undefined {
  const { models, tools, root } = plan
  const last = models.at(-1)
  if (last === undefined || last === root) return undefined
  const calls = callsOf(last).filter((call) => call.providerExecuted !== true && !hasRun(call, tools))
  if (calls.length === 0) return undefined
  const text = finalText(plan)
  const answer = text?.startsWith('{') === true ? parseJson(text) : undefined
  return isRecord(answer) ? calls.find((call) => isAnswer(call.arguments, answer))?.name : undefined
}

/** The answer on the run's own span, or a span that it only wraps, or that of the agent that worked last. */
export function finalText({ models, root }: RunPlan): string | undefined {
  const last = models.at(-1)
  for (const span of [root, ...wrappersOf(root)]) {
    const text = assistantText(span.output)
    if (text !== undefined) return text
  }
  const agent = last && agentOf(last, root)
  // What a node of a graph returned is no answer.
  return agent === undefined || agent.role === 'step' ? undefined : assistantText(agent.output)
}

/** The spans that the run's own one only wraps: some libraries write one for the call and one for the graph. */
export function wrappersOf(root: TraceSpan): readonly TraceSpan[] {
  const found: TraceSpan[] = []
  for (let at = wrappedBy(root); at !== undefined; at = wrappedBy(at)) found.push(at)
  return found
}

function wrappedBy({ firstChild, lastChild, role, agent }: TraceSpan): TraceSpan | undefined {
  if (role !== 'entry') return undefined
  if (firstChild === lastChild && firstChild?.role === 'entry') return firstChild
  let child = firstChild
  while (child !== undefined && !(child.role === 'entry' && child.agent?.name === agent?.name))
    child = child.nextSibling
  return agent?.name === undefined ? undefined : child
}

/** The calls of each model call, without those of one tool. */
export function withoutTool(
  asked: readonly (readonly ToolCallPart[])[],
  tool: string | undefined,
): readonly (readonly ToolCallPart[])[] {
  return tool === undefined ? asked : asked.map((calls) => calls.filter(({ name }) => name !== tool))
}

function hasRun(call: ToolCallPart, tools: readonly TraceSpan[]): boolean {
  return tools.some((tool) => nameOf(tool) === call.name || (call.id !== undefined && idOf(tool) === call.id))
}

/** The answer is what the arguments became when they were checked: defaults were added, and some values converted. */
function isAnswer(given: unknown, answer: Readonly<Record<string, unknown>>): boolean {
  if (!isRecord(given)) return false
  const keys = Object.keys(given)
  return keys.every((key) => key in answer) && keys.some((key) => isSame(given[key], answer[key]))
}

function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(one) === canonicalJson(other)
}

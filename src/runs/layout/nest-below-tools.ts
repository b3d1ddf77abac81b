import { isRecord } from '../../spans/json.ts'
import { isBesideItsTool } from '../trace-span.ts'
import type { TraceSpan } from '../trace-span.ts'
import { lastUserText } from '../view/message-text.ts'

/** How many of the latest tools that began before an agent are checked, at least. */
const MAX_AT_WORK = 64

/**
 * Nests agents below the tool that started them if the library writes all agents as siblings (`Quirks.startsBesideItsTool`): below a tool
 * of another agent that was running for as long as the agent. Of several tools, it is the one with the agent's question in its arguments,
 * or else the latest.
 *
 * @param spans ordered by start
 */
export function nestBelowTools(spans: readonly TraceSpan[]): void {
  if (!spans.some(isBesideItsTool)) return
  const atWork: TraceSpan[] = []
  const taken = new Set<TraceSpan>()
  const questions = new FirstQuestions(spans)
  for (const span of spans) {
    if (span.role === 'tool') atWork.push(span)
    if (atWork.length > 2 * MAX_AT_WORK) atWork.splice(0, MAX_AT_WORK)
    if (!isBesideItsTool(span)) continue
    const around = atWork.filter((tool) => isAround(tool, span) && tool.parent !== span)
    const tool = around.length > 1 ? (askedTool(around, questions.of(span), taken) ?? around.at(-1)) : around[0]
    if (tool === undefined) continue
    span.parent = tool
    taken.add(tool)
  }
}

function isAround(tool: TraceSpan, agent: TraceSpan): boolean {
  return tool.dialect === agent.dialect && (tool.isOpen || tool.span.endTimeMs >= agent.span.endTimeMs)
}

/** The tool that received the question. If several did, the first of them without an agent. */
function askedTool(
  tools: readonly TraceSpan[],
  question: string | undefined,
  taken: ReadonlySet<TraceSpan>,
): TraceSpan | undefined {
  if (question === undefined) return undefined
  const asked = tools.filter(({ toolArguments: given }) =>
    isRecord(given) ? Object.values(given).includes(question) : given === question,
  )
  return asked.find((tool) => !taken.has(tool)) ?? asked[0]
}

/** The question of each agent, from the first model call below it, because its own span does not have it. */
class FirstQuestions {
  readonly #spans: readonly TraceSpan[]
  #firstCalls: Map<TraceSpan, TraceSpan> | undefined

  constructor(spans: readonly TraceSpan[]) {
    this.#spans = spans
  }

  of(agent: TraceSpan): string | undefined {
    this.#firstCalls ??= firstCallsOf(this.#spans)
    return lastUserText(this.#firstCalls.get(agent)?.input)
  }
}

function firstCallsOf(spans: readonly TraceSpan[]): Map<TraceSpan, TraceSpan> {
  const calls = new Map<TraceSpan, TraceSpan>()
  for (const span of spans) {
    const { parent } = span
    if (span.role === 'model' && parent !== undefined && !calls.has(parent)) calls.set(parent, span)
  }
  return calls
}

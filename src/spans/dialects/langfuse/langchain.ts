import { isRecord } from '../../json.ts'
import { graphMetadata, toolMessageIn } from '../../content/langchain.ts'
import type { GraphMetadata } from '../../content/langchain.ts'
import { toMessage } from '../../content/messages.ts'
import type { SourceSpan } from '../../source-span.ts'

/** What Langfuse's LangChain handlers write in JavaScript and Python. */

/** What LangChain's handler knows about a span. */
const METADATA = 'langfuse.observation.metadata.'
export const GRAPH_KEYS: readonly string[] = ['lc_agent_name', 'langgraph_node', 'ls_integration'].map(
  (key) => METADATA + key,
)

export function metadataOf({ attributes }: SourceSpan): GraphMetadata {
  return graphMetadata((key) => attributes[METADATA + key])
}

/** LangChain's handler writes the message that a tool returned. */
export function toolMessageOf(span: SourceSpan): Readonly<Record<string, unknown>> | undefined {
  return toolMessageIn(span, 'langfuse.observation.output')
}

/** LangChain's handler for Python appends the offered tools to the messages, with a tool's role. */
function isTool(item: unknown): item is { readonly content: unknown } {
  return isRecord(item) && item.role === 'tool' && isRecord(item.content) && isRecord(item.content.function)
}

export function toolsAmong(value: unknown): readonly unknown[] | undefined {
  const tools = Array.isArray(value) ? value.filter(isTool).map(({ content }) => content) : []
  return tools.length === 0 ? undefined : tools
}

export function withoutTools(value: unknown): unknown {
  return toolsAmong(value) !== undefined && Array.isArray(value) ? value.filter((item) => !isTool(item)) : value
}

const USUAL_ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'tool'])

/** LangChain's handler writes the tool's name as the role of its result, and omits the call id. */
export function withToolRoles(value: unknown): unknown {
  const list = isRecord(value) ? value.messages : value
  if (!Array.isArray(list) || !list.some((item) => isRecord(item) && !USUAL_ROLES.has(item.role))) return value
  const waiting: { readonly name: string; readonly id: string }[] = []
  return list.map((item: unknown) => {
    if (!isRecord(item)) return item
    for (const part of toMessage(item)?.parts ?? []) {
      if (part.type === 'tool_call' && part.id !== undefined) waiting.push({ name: part.name, id: part.id })
    }
    const at = waiting.findIndex(({ name }) => name === item.role)
    const [call] = at === -1 ? [] : waiting.splice(at, 1)
    return call === undefined ? item : { ...item, role: 'tool', tool_call_id: call.id }
  })
}

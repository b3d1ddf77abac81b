import type { AgentRun } from '../../model/agent-run.ts'
import { ReconstructedRun } from '../../runs/view/run.ts'
import { parseJson } from '../../spans/json.ts'

/** The attribute of the agent span in which an application says which tools the run should call: a name, or names in order. */
export const EXPECTED_TOOLS = 'spanscore.expected_tools'

/** What a run itself says that it should call; `undefined` if it says nothing. One name is a tool, several are an order. */
export function expectedTools(
  run: AgentRun,
): { readonly tool?: string | undefined; readonly order?: readonly string[] | undefined } | undefined {
  const value = ReconstructedRun.attributeOf(run, EXPECTED_TOOLS)
  if (value === undefined) return undefined
  // Attributes of older pipelines hold no arrays: a list may come as JSON text.
  const parsed = typeof value === 'string' && value.startsWith('[') ? parseJson(value) : value
  const names = (Array.isArray(parsed) ? parsed : [parsed]).filter(
    (name): name is string => typeof name === 'string' && name !== '',
  )
  if (names.length === 0) return undefined
  return names.length === 1 ? { tool: names[0] } : { order: names }
}

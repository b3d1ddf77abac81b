import type { AgentRun } from '../../model/agent-run.ts'
import { ReconstructedRun } from '../../runs/view/run.ts'
import { parseJson } from '../../spans/json.ts'

/** The agent span's attribute for the tools that the run should call: a name, or names in order. */
export const EXPECTED_TOOLS = 'spanscore.expected_tools'

/** The tools that the run itself expects; `undefined` if it has no expectation. One name is a tool, several are an order. */
export function expectedTools(
  run: AgentRun,
): { readonly tool?: string | undefined; readonly order?: readonly string[] | undefined } | undefined {
  const value = ReconstructedRun.attributeOf(run, EXPECTED_TOOLS)
  if (value === undefined) return undefined
  // Older pipelines have no array attributes, so a list may be JSON text.
  const parsed = typeof value === 'string' && value.startsWith('[') ? parseJson(value) : value
  const names = (Array.isArray(parsed) ? parsed : [parsed]).filter(
    (name): name is string => typeof name === 'string' && name !== '',
  )
  if (names.length === 0) return undefined
  return names.length === 1 ? { tool: names[0] } : { order: names }
}

import type { Dialect } from '../../dialect.ts'
import { isRecord, textOf } from '../../json.ts'
import { shownJson } from './content.ts'
import { openInference } from './openinference.ts'

/**
 * The Claude Agent SDK through OpenInference. The agent's span has the question, the answer and every tool call of the model. A sub-agent's
 * span is named after the tool that starts it and has nothing else: its name and question are in that tool's arguments.
 */
export const openInferenceClaudeAgentSdk: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName.includes('openinference') && /claude[-_]agent[-_]sdk$/.test(scopeName),

  agent(span) {
    const name = textOf(span.attributes['agent.name'])
    if (name !== undefined) return STARTERS.has(name) ? undefined : { name }
    return span.name.startsWith('ClaudeAgentSDK.') && span.name !== 'ClaudeAgentSDK.query'
      ? undefined
      : openInference.agent?.(span)
  },

  tool(span) {
    const tool = openInference.tool?.(span)
    const given = shownJson(span, 'input.value') ?? shownJson(span, 'tool.parameters')
    const agentName =
      isRecord(given) && tool !== undefined && STARTERS.has(tool.name) ? textOf(given.subagent_type) : undefined
    return tool === undefined || agentName === undefined ? tool : { ...tool, agentName }
  },
}

/** The tools that start sub-agents, in newer and older SDK versions. */
const STARTERS: ReadonlySet<string> = new Set(['Agent', 'Task'])

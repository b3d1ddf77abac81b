import type { Absence, Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import { textOf } from '../../json.ts'
import { isHidden } from './content.ts'
import { isPython, kindOf, openInference } from './openinference.ts'

/**
 * The OpenAI Agents SDK through OpenInference. The SDK's trace is the outermost AGENT, with input and answer. The agents in it are siblings
 * without content, and hand over to one another.
 */
export const openInferenceOpenAiAgents: Dialect = {
  ...openInference,

  namespaces: [],
  recognises: (scopeName) => scopeName.includes('openinference') && /openai[-_]agents$/.test(scopeName),
  withoutScope: { readAs: openInference, isShownBy: (span) => kindOf(span) === 'CHAIN' && span.name === 'turn' },

  roleOf(span): SpanRole {
    const kind = kindOf(span)
    if (kind === 'AGENT') return span.attributes['graph.node.id'] === undefined ? 'entry' : 'agent'
    if (kind === 'CHAIN') return span.name === 'turn' ? 'step' : 'entry'
    const toolName = span.attributes['tool.name']
    // Lists the tools of an MCP server.
    if (toolName === undefined && span.name === 'mcp_tools') return 'step'
    // In Python, only the span's name shows it.
    const isHandoff =
      typeof toolName === 'string' ? toolName.startsWith('handoff_to_') : span.name.startsWith('handoff to ')
    return kind === 'TOOL' && isHandoff ? 'handoff' : openInference.roleOf(span)
  },

  isSingleRun: () => true,

  agent(span) {
    const name = textOf(span.attributes['graph.node.id']) ?? (kindOf(span) === 'AGENT' ? textOf(span.name) : undefined)
    return name === undefined ? undefined : { name }
  },

  // A call that waits for an approval ends successfully and without a result, like one that was cancelled.
  tool(span) {
    const tool = openInference.tool?.(span)
    const { 'input.value': given, 'output.value': result } = span.attributes
    return tool !== undefined && given !== undefined && result === undefined ? { ...tool, mayBeOpen: true } : tool
  },

  // The trace around the agents always ends successfully.
  outcome(span): SpanOutcome {
    const outcome = openInference.outcome?.(span) ?? { status: 'unknown' }
    return outcome.status === 'ok' && openInferenceOpenAiAgents.roleOf(span) === 'entry'
      ? { status: 'unknown' }
      : outcome
  },

  // Without sensitive data, the result is an empty text and the arguments are missing.
  toolResult: (span) =>
    span.attributes['output.value'] === '' && span.attributes['input.value'] === undefined
      ? undefined
      : openInference.toolResult?.(span, []),

  absence(span, fact, logs): Absence | undefined {
    const { attributes } = span
    // Chat completions are recorded without their tools.
    if (fact === 'toolDefinitions' && attributes['input.value'] !== undefined) return { why: 'not-recorded' }
    if (attributes['input.value'] !== undefined || isHidden(attributes['input.value'])) {
      return openInference.absence?.(span, fact, logs)
    }
    // A failed call has no request in Python, where only calls have content.
    if (isPython(span) && (kindOf(span) !== 'LLM' || span.status.code === 'error')) return { why: 'not-recorded' }
    return {
      why: 'not-captured',
      switch: isPython(span)
        ? 'RunConfig(trace_include_sensitive_data=True)'
        : 'new Runner({ traceIncludeSensitiveData: true })',
    }
  },
}

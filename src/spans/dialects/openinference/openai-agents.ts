import type { Absence, Dialect, SpanOutcome, SpanRole } from '../../dialect.ts'
import { textOf } from '../../json.ts'
import { isHidden } from './content.ts'
import { isPython, kindOf, openInference } from './openinference.ts'

/**
 * The OpenAI Agents SDK through OpenInference. The SDK's trace is the outermost AGENT and holds input and answer; the agents
 * in it are side by side, without content, and hand over to one another.
 */
export const openInferenceOpenAiAgents: Dialect = {
  ...openInference,

  recognises: (scopeName) => scopeName.includes('openinference') && /openai[-_]agents$/.test(scopeName),

  roleOf(span): SpanRole {
    const kind = kindOf(span)
    if (kind === 'AGENT') return span.attributes['graph.node.id'] === undefined ? 'entry' : 'agent'
    if (kind === 'CHAIN') return span.name === 'turn' ? 'step' : 'entry'
    const toolName = span.attributes['tool.name']
    // An MCP server was asked for its tools.
    if (toolName === undefined && span.name === 'mcp_tools') return 'step'
    // Python's have the name of the span alone.
    const isHandoff =
      typeof toolName === 'string' ? toolName.startsWith('handoff_to_') : span.name.startsWith('handoff to ')
    return kind === 'TOOL' && isHandoff ? 'handoff' : openInference.roleOf(span)
  },

  holdsOneRun: () => true,

  agent(span) {
    const name = textOf(span.attributes['graph.node.id']) ?? (kindOf(span) === 'AGENT' ? textOf(span.name) : undefined)
    return name === undefined ? undefined : { name }
  },

  // The trace around the agents ends well whatever became of them.
  outcome(span): SpanOutcome {
    const outcome = openInference.outcome?.(span) ?? { status: 'unknown' }
    return outcome.status === 'ok' && openInferenceOpenAiAgents.roleOf(span) === 'entry'
      ? { status: 'unknown' }
      : outcome
  },

  // With sensitive data left out, the result is written as an empty text and the arguments are not written.
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
    return {
      why: 'not-captured',
      switch: isPython(span)
        ? 'RunConfig(trace_include_sensitive_data=True)'
        : 'new Runner({ traceIncludeSensitiveData: true })',
    }
  },
}

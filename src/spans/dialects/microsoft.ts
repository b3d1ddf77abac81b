import type { Dialect } from '../dialect.ts'
import type { SourceSpan } from '../source-span.ts'
import { textOf } from '../json.ts'
import { genAi } from './gen-ai.ts'

/**
 * Microsoft's frameworks: Agent Framework (Python and .NET), Microsoft.Extensions.AI, Semantic Kernel. They write the GenAI conventions.
 * Only the content setting and the workflow spans differ.
 */
export const microsoft: Dialect = {
  ...genAi,
  name: 'microsoft',

  namespaces: [],
  recognises: (scopeName) =>
    scopeName === 'agent_framework' ||
    scopeName.startsWith('Experimental.Microsoft.') ||
    scopeName.startsWith('Microsoft.Agents.AI') ||
    scopeName.startsWith('Microsoft.SemanticKernel') ||
    scopeName.startsWith('semantic_kernel.'),

  // `orchestrate_tools` encloses the calls of a client that calls tools by itself, if there is no agent; an executor is a step of a workflow.
  roleOf: (span) =>
    isWorkflow(span) || span.name === 'orchestrate_tools' || span.name.startsWith('executor.process')
      ? 'entry'
      : genAi.roleOf(span),

  agent(span) {
    const name = isWorkflow(span) ? textOf(span.attributes['workflow.name']) : undefined
    return name === undefined ? genAi.agent?.(span) : { name }
  },

  // Telemetry that is added around a client which calls tools by itself.
  quirks: { modelsEncloseLoops: true },

  // The agents of a workflow work on one answer.
  isSingleRun: (span) => isWorkflow(span) || genAi.isSingleRun?.(span) === true,

  absence(span, fact) {
    const isOptional = fact === 'systemInstructions' || fact === 'toolDefinitions'
    if (isOptional && span.attributes['gen_ai.input.messages'] !== undefined) return undefined
    const { name } = span.scope
    if (name === 'agent_framework') return { why: 'not-captured', switch: 'ENABLE_SENSITIVE_DATA=true' }
    const isKernel = name.startsWith('Microsoft.SemanticKernel') || name.startsWith('semantic_kernel.')
    return {
      why: 'not-captured',
      switch: isKernel
        ? 'SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true'
        : 'EnableSensitiveData = true (UseOpenTelemetry(configure: …))',
    }
  },
}

/** `workflow.run` in Python and older .NET versions, `workflow_invoke` in newer ones. */
function isWorkflow({ name }: SourceSpan): boolean {
  return name.startsWith('workflow.run') || name.startsWith('workflow_invoke')
}

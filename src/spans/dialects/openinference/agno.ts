import type { Dialect } from '../../dialect.ts'
import { requestMessages } from '../../content/payloads.ts'
import { isRecord, parseJson, textOf } from '../../json.ts'
import type { SourceSpan } from '../../source-span.ts'
import { shownJson } from './content.ts'
import { kindOf, openInference } from './openinference.ts'

/** Agno through OpenInference. The value of a failed agent is the error text, not an answer. */
export const openInferenceAgno: Dialect = {
  ...openInference,
  toolSpans: 'always',

  namespaces: [],
  recognises: (scopeName) => scopeName === 'openinference.instrumentation.agno',
  withoutScope: {
    readAs: openInference,
    isShownBy: ({ attributes }) => attributes['agno.agent'] !== undefined || attributes['agno.agent.id'] !== undefined,
  },

  // A workflow has question and answer. The agents of its steps work on them.
  isSingleRun: isWorkflow,
  mayBecomeAgent: (span) => kindOf(span) === 'CHAIN' && !isWorkflow(span),

  agent(span) {
    if (isWorkflow(span)) return named(textOf(span.attributes['graph.node.name']))
    const name = textOf(span.attributes['agent.name']) ?? textOf(span.attributes['agno.agent'])
    return named(name) ?? openInference.agent?.(span)
  },

  // The messages of the request say which tools failed.
  input(span, logs) {
    const written = span.attributes['input.value']
    const hasErrors = typeof written === 'string' && written.includes('"tool_call_error": true')
    return (
      (hasErrors ? requestMessages(shownJson(span, 'input.value')) : undefined) ?? openInference.input?.(span, logs)
    )
  },

  resumption: (span) => (kindOf(span) === 'AGENT' && /\.a?continue_run$/.test(span.name) ? {} : undefined),

  runnerOf(span, toolName) {
    const tools = Object.entries(span.attributes).filter(([key]) => key.endsWith('.tool.json_schema'))
    const written = tools.map(([, schema]) => parseJson(schema)).find((schema) => nameIn(schema) === toolName)
    const tool = isRecord(written) ? written.function : undefined
    if (!isRecord(tool)) return undefined
    if (tool.external_execution === true) return 'client'
    return tool.requires_confirmation === true ? 'agent if approved' : 'agent'
  },

  output: (span, logs) =>
    span.status.code === 'error' && kindOf(span) === 'AGENT' ? undefined : openInference.output?.(span, logs),
}

function isWorkflow({ attributes }: SourceSpan): boolean {
  return attributes['agno.workflow.steps_count'] !== undefined || attributes['agno.workflow.id'] !== undefined
}

function named(name: string | undefined): { readonly name: string } | undefined {
  return name === undefined ? undefined : { name }
}

function nameIn(schema: unknown): unknown {
  return isRecord(schema) && isRecord(schema.function) ? schema.function.name : undefined
}

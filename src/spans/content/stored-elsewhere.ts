import type { ContentFact } from '../dialect.ts'
import { textOf } from '../json.ts'
import type { SourceLog, SourceSpan } from '../source-span.ts'

/**
 * Whether an application stored the content of a fact elsewhere, and its spans or log records only refer to it, as with the upload hook of
 * OpenTelemetry's instrumentations for Python (`gen_ai.input.messages_ref`).
 */
export function isStoredElsewhere(span: SourceSpan, fact: ContentFact, logs: readonly SourceLog[]): boolean {
  const key = REFERENCES[fact]
  if (textOf(span.attributes[key]) !== undefined) return true
  return [...span.events, ...logs].some(({ attributes }) => textOf(attributes[key]) !== undefined)
}

const REFERENCES: Readonly<Record<ContentFact, string>> = {
  systemInstructions: 'gen_ai.system_instructions_ref',
  input: 'gen_ai.input.messages_ref',
  output: 'gen_ai.output.messages_ref',
  toolCalls: 'gen_ai.output.messages_ref',
  toolDefinitions: 'gen_ai.tool.definitions_ref',
  toolArguments: 'gen_ai.tool.call.arguments_ref',
  toolResult: 'gen_ai.tool.call.result_ref',
}

import { onceForText } from './repeated-text.ts'
import { parseCutJson } from '../cut-json.ts'
import { isCutJson, isRecord, parseJson, textOf } from '../json.ts'
import type { ToolDefinition } from '../../model/message.ts'

/**
 * Reads the tools that were offered to a model, in any library's format: the conventions', OpenAI's (`{ type, function }`), Anthropic's
 * (`input_schema`), the AI SDK's (`inputSchema`), Bedrock's (`toolSpec`), Gemini's (`function_declarations`), arrays of JSON texts, or just
 * names. `undefined` if the value is not a list of tools, or if a length limit cut off some names.
 */
export const toToolDefinitions: (value: unknown) => readonly ToolDefinition[] | undefined = onceForText((value) => {
  const parsed = parseJson(value)
  const list = Array.isArray(parsed) ? parsed : isRecord(parsed) ? toList(parsed) : undefined
  if (list === undefined) return undefined
  const tools: ToolDefinition[] = []
  for (const item of list) {
    const written = parseJson(item)
    const isCut = typeof written === 'string' && isCutJson(written)
    const found = toTools(isCut ? parseCutJson(written, 1) : written)
    if (isCut && found.length === 0) return undefined
    tools.push(...found)
  }
  return tools
})

/** Accepts `{ name: definition }`, or a single definition. */
function toList(value: Record<string, unknown>): unknown[] {
  if (isDefinition(value)) return [value]
  return Object.entries(value).map(([name, definition]) => (isRecord(definition) ? { name, ...definition } : name))
}

function isDefinition(value: Record<string, unknown>): boolean {
  return (
    typeof value.name === 'string' ||
    isRecord(value.function) ||
    isRecord(value.toolSpec) ||
    Array.isArray(value.function_declarations) ||
    Array.isArray(value.functionDeclarations)
  )
}

function toTools(value: unknown): readonly ToolDefinition[] {
  if (typeof value === 'string') return value === '' ? [] : [{ name: value }]
  if (!isRecord(value)) return []
  const declarations = value.function_declarations ?? value.functionDeclarations
  if (Array.isArray(declarations)) return declarations.flatMap((item) => toTools(parseJson(item)))
  const source = [value.function, value.toolSpec].find(isRecord) ?? value
  // A provider's own tool may have no name: `{ type: 'web_search' }`. A schema of parameters alone is no tool.
  const name = textOf(source.name) ?? (isRecord(value.properties) ? undefined : textOf(value.type))
  if (name === undefined) return []
  const description = textOf(source.description)
  const schema =
    source.parameters ??
    source.inputSchema ??
    source.input_schema ??
    source.parametersJsonSchema ??
    source.parameters_json_schema
  const parameters = isRecord(schema) && isRecord(schema.json) ? schema.json : schema
  return [
    {
      name,
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && parameters !== null && { parameters: parseJson(parameters) }),
    },
  ]
}

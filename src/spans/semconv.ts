import type { ModelIdentity, ToolIdentity } from './dialect.ts'
import { numberOf, parseJson, textOf } from './json.ts'
import type { Usage } from '../model/message.ts'

/**
 * The GenAI conventions' own attributes, which most dialects also write. Names are spelled out because the conventions' npm package only
 * has them as deprecated constants. Old names are read if the new one is absent.
 */

/** What records the question and the answer of an agent, whose model calls do not show which of them they are. */
export const AGENTS_INPUT = 'gen_ai.input.messages on the invoke_agent span'
export const AGENTS_OUTPUT = 'gen_ai.output.messages on the invoke_agent span'

type Attributes = Readonly<Record<string, unknown>>

/** The span's operation: `chat`, `invoke_agent`, `execute_tool`, … */
export function operationOf(attributes: Attributes): string | undefined {
  return textOf(attributes['gen_ai.operation.name'])
}

/** Token counts of one call, by the names of all versions of the conventions. */
export function semconvUsage(attributes: Attributes): Usage {
  return makeUsage(
    first(attributes, INPUT_TOKENS),
    first(attributes, OUTPUT_TOKENS),
    first(attributes, CACHE_READ_TOKENS),
    first(attributes, CACHE_WRITE_TOKENS),
    first(attributes, REASONING_TOKENS),
  )
}

/** A usage with the given counts that are present. */
export function makeUsage(
  inputTokens: number | undefined,
  outputTokens: number | undefined,
  cacheReadTokens?: number,
  cacheWriteTokens?: number,
  reasoningTokens?: number,
): Usage {
  const usage: { -readonly [Key in keyof Usage]: Usage[Key] } = {}
  if (inputTokens !== undefined) usage.inputTokens = inputTokens
  if (outputTokens !== undefined) usage.outputTokens = outputTokens
  if (cacheReadTokens !== undefined) usage.cacheReadTokens = cacheReadTokens
  if (cacheWriteTokens !== undefined) usage.cacheWriteTokens = cacheWriteTokens
  if (reasoningTokens !== undefined) usage.reasoningTokens = reasoningTokens
  return usage
}

/** Model, response id and finish reasons. */
export function semconvModel(attributes: Attributes): ModelIdentity {
  const model = textOf(attributes['gen_ai.response.model']) ?? textOf(attributes['gen_ai.request.model'])
  const responseId = textOf(attributes['gen_ai.response.id'])
  const finishReasons = toFinishReasons(attributes['gen_ai.response.finish_reasons'])
  // Built property by property: conditional spreads cost several times as much.
  const identity: { -readonly [Key in keyof ModelIdentity]: ModelIdentity[Key] } = {}
  if (model !== undefined) identity.model = model
  if (responseId !== undefined) identity.responseId = responseId
  if (finishReasons !== undefined) identity.finishReasons = finishReasons
  return identity
}

/** More than the answers that one request asks for. */
const MAX_REASONS = 128

/** Accepts an array, its JSON text, a plain string, or names separated by commas. */
export function toFinishReasons(value: unknown): readonly string[] | undefined {
  // A short list need not be copied before its texts are.
  const parsed = Array.isArray(value) && value.length <= MAX_REASONS ? value : parseJson(value)
  if (Array.isArray(parsed)) return parsed.filter((item) => typeof item === 'string')
  return typeof parsed === 'string' && parsed !== '' ? parsed.split(',').map((item) => item.trim()) : undefined
}

/** Name, call id and kind of a tool. */
export function semconvTool(attributes: Attributes): ToolIdentity | undefined {
  const name = textOf(attributes['gen_ai.tool.name'])
  if (name === undefined) return undefined
  const id = textOf(attributes['gen_ai.tool.call.id'])
  const tool: { -readonly [Key in keyof ToolIdentity]: ToolIdentity[Key] } = { name }
  if (id !== undefined) tool.id = id
  if (attributes['gen_ai.tool.type'] === 'extension') tool.providerExecuted = true
  return tool
}

function first(attributes: Attributes, keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = numberOf(attributes[key])
    if (value !== undefined) return value
  }
  return undefined
}

const INPUT_TOKENS = ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens']
const OUTPUT_TOKENS = ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens']
const CACHE_READ_TOKENS = [
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_read_input_tokens',
  'gen_ai.usage.input_tokens.cached',
  'gen_ai.usage.prompt_tokens_details.cache_read',
]
const CACHE_WRITE_TOKENS = [
  'gen_ai.usage.cache_write.input_tokens',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.cache_creation_input_tokens',
]
const REASONING_TOKENS = ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens']

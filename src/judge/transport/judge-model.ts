import { formatValue } from '../../scoring/format-value.ts'
import { isRecord } from '../../spans/json.ts'

/**
 * An AI SDK language model of specification v2, v3 or v4, reduced to what spanscore reads. Every `@ai-sdk/…` provider creates them.
 */
export interface LanguageModelInstance {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string
  /** Such as `openai.chat`. */
  readonly provider: string
  /** The provider's name for the model. */
  readonly modelId: string
}

/** A model by id, with what is needed to reach it. */
export interface ModelConfig {
  /** `<provider>/<model>`. With `url`, the part before the first slash is only a name and is not sent. */
  readonly id: string
  /** Base URL of an OpenAI-compatible API (chat completions), such as `http://127.0.0.1:11434/v1`. Its query is sent with every call. */
  readonly url?: string
  /** @default the provider's environment variable */
  readonly apiKey?: string
  /** The path of a file with the API key. It is read for every score, so that the key may be replaced. */
  readonly apiKeyFile?: string
  /** The header of the API key, such as `api-key` of Azure; only with `url`. @default `Authorization`, with `Bearer` before the key */
  readonly apiKeyHeader?: string
  /** HTTP headers of every call. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The model of a judge: an AI SDK model instance; `'<provider>/<model>'`, which loads the package `@ai-sdk/<provider>`; or `{ id, url?,
 * apiKey?, apiKeyFile?, apiKeyHeader?, headers? }`.
 */
export type JudgeModel = LanguageModelInstance | string | ModelConfig

/** A validated reference to a model. */
export type ModelReference =
  | { readonly kind: 'instance'; readonly name: string; readonly instance: CallableModel }
  | { readonly kind: 'config'; readonly name: string; readonly provider: string; readonly config: ModelConfig }

/** A model instance that can be called. Its options and results are the AI SDK's own. */
export interface CallableModel extends LanguageModelInstance {
  doGenerate(options: unknown): PromiseLike<unknown>
}

/**
 * Validates a model option.
 *
 * @param expected the beginning of messages
 * @throws TypeError if it is not a model: `expected … got …`
 */
export function toModelReference(model: unknown, expected = 'Expected'): ModelReference {
  if (typeof model === 'string') return configured({ id: model }, expected)
  if (typeof model === 'object' && model !== null) {
    if ('doGenerate' in model) return instance(model, expected)
    if (isModelConfig(model)) return configured(model, expected)
  }
  // Only the names of an object's keys are shown: a value may be an API key.
  const got = isRecord(model) ? `an object with ${Object.keys(model).join(', ') || 'nothing'}` : formatValue(model)
  throw new TypeError(
    `${expected} model to be an AI SDK model, '<provider>/<model>' or { id, url?, apiKey?, headers? }, got ${got}.`,
  )
}

function configured(config: ModelConfig, expected: string): ModelReference {
  checkConfig(config, expected)
  const slash = config.id.indexOf('/')
  if (config.url === undefined && (slash < 1 || slash === config.id.length - 1)) {
    // Node.js shows the line that threw, so it is short.
    const message = `${expected} model to be '<provider>/<model>', 'openai/gpt-5-mini' for example, got ${formatValue(config.id)}.`
    throw new TypeError(message)
  }
  const provider = slash < 1 ? 'openai-compatible' : config.id.slice(0, slash)
  return { kind: 'config', name: slash < 1 ? `${provider}/${config.id}` : config.id, provider, config }
}

const CONFIG_KEYS: Readonly<Record<keyof ModelConfig, true>> = {
  id: true,
  url: true,
  apiKey: true,
  apiKeyFile: true,
  apiKeyHeader: true,
  headers: true,
}

/** Rejects unknown keys: a misspelt `url` would send content to the provider. Keys and headers are not shown. */
function checkConfig(config: ModelConfig, expected: string): void {
  const { url, apiKey, apiKeyFile, apiKeyHeader, headers } = config
  const unknown = Object.keys(config).find((key) => !Object.hasOwn(CONFIG_KEYS, key))
  if (unknown !== undefined) {
    const names = Object.keys(CONFIG_KEYS).join(', ')
    throw new TypeError(`${expected} model to hold ${names}, got an unknown option: ${formatValue(unknown)}.`)
  }
  if (url !== undefined && !URL.canParse(url)) {
    throw new TypeError(`${expected} model.url to be a URL, got ${formatValue(url)}.`)
  }
  for (const [name, value] of Object.entries({ apiKey, apiKeyFile, apiKeyHeader })) {
    if (value !== undefined && typeof value !== 'string')
      throw new TypeError(`${expected} model.${name} to be a string, got ${typeof value}.`)
  }
  if (apiKey !== undefined && apiKeyFile !== undefined)
    throw new TypeError(`${expected} model to hold apiKey or apiKeyFile, got both.`)
  if (apiKeyHeader !== undefined && url === undefined)
    throw new TypeError(`${expected} model.apiKeyHeader with model.url only, got no URL.`)
  if (headers !== undefined && !isRecord(headers)) {
    throw new TypeError(`${expected} model.headers to be an object, got ${typeof headers}.`)
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (typeof value === 'string') continue
    throw new TypeError(`${expected} model.headers[${formatValue(name)}] to be a string, got ${typeof value}.`)
  }
}

function instance(model: object, expected: string): ModelReference {
  if (!isCallableModel(model)) {
    const version = 'specificationVersion' in model ? model.specificationVersion : undefined
    throw new TypeError(
      `${expected} model to be an AI SDK language model of specification v2, v3 or v4, got specification ${formatValue(version)}.`,
    )
  }
  // 'openai.responses' and 'openai.chat' are one provider.
  const vendor = model.provider.split('.')[0]
  // Ids of the AI Gateway include the provider.
  const name = vendor === 'gateway' && model.modelId.includes('/') ? model.modelId : `${vendor}/${model.modelId}`
  return { kind: 'instance', name, instance: model }
}

/** Whether the value is a model of a supported specification. */
export function isCallableModel(value: unknown): value is CallableModel {
  return (
    isRecord(value) &&
    typeof value.doGenerate === 'function' &&
    typeof value.provider === 'string' &&
    typeof value.modelId === 'string' &&
    ['v2', 'v3', 'v4'].includes(String(value.specificationVersion))
  )
}

function isModelConfig(value: object): value is ModelConfig {
  return 'id' in value && typeof value.id === 'string'
}

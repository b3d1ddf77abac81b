import { nodeCrypto } from '../../spans/node-crypto.ts'
import { isRecord } from '../../spans/json.ts'
import { isCallableModel } from './judge-model.ts'
import type { CallableModel, ModelConfig, ModelReference } from './judge-model.ts'
import { loadProvider } from './packages.ts'
import { adviceForUnknownProvider, providerEntry } from './model-providers.ts'
import { installing } from './installing.ts'

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>

/** How to reach a model. Deciding this does no I/O except checking which packages are installed. */
export interface Connection {
  /** Which key is missing and what to do; `undefined` if there is one, or none is needed. */
  missingKey(): string | undefined
  /** Like `missingKey`, but also checks packages, by a look into `node_modules`. */
  unavailable(): string | undefined
  /** Loads what is needed and returns the model. */
  open(): Promise<CallableModel>
  /** Equal for connections that share a key and a server. Every instance has its own. */
  readonly endpointKey: object | string
  /** Where to look if the server refuses the key. */
  readonly keyHint: string
}

const GATEWAY = '@ai-sdk/gateway'

/** Decides how to reach the model: as an instance, at a URL, through its provider's package, or through the AI Gateway. */
export function connect(reference: ModelReference, environment: Environment): Connection {
  if (reference.kind === 'instance') {
    const { instance } = reference
    return {
      missingKey: () => undefined,
      unavailable: () => undefined,
      open: () => Promise.resolve(instance),
      endpointKey: instance,
      keyHint: 'the API key that the model was made with',
    }
  }
  const { config, provider, name } = reference
  const entry = providerEntry(provider)
  const { key, variable, trouble } = findKey(provider, entry.key, config, environment)
  const gatewayKey = environment.AI_GATEWAY_API_KEY
  if (config.url === undefined && key === undefined && entry.key !== undefined && gatewayKey) {
    return {
      missingKey: () => undefined,
      unavailable: () => missingPackage(GATEWAY, name),
      open: async () => {
        const { limitedFetch } = await import('./limited-fetch.ts')
        const settings = { apiKey: gatewayKey, fetch: limitedFetch, ...withHeaders(config.headers) }
        const gateway = makeProvider(await loadProvider(GATEWAY), 'createGateway', GATEWAY, settings)
        return toCallable(gateway(config.id), GATEWAY)
      },
      endpointKey: endpointKey('gateway', name, gatewayKey),
      keyHint: 'AI_GATEWAY_API_KEY',
    }
  }
  const { base: url, query } = splitUrl(config.url ?? (provider === 'openai' ? openAIBaseUrl(environment) : undefined))
  const packageName = config.url === undefined ? `@ai-sdk/${provider}` : '@ai-sdk/openai'
  const lacksKey = key === undefined && entry.key !== undefined && config.url === undefined
  const noPackage = (): string | undefined => {
    const missing = missingPackage(packageName, name)
    return missing === undefined ? undefined : (adviceForUnknownProvider(packageName, name) ?? missing)
  }
  const noKey = (): string | undefined => trouble ?? (lacksKey ? missingKey(name, entry.key ?? '') : undefined)
  return {
    missingKey: noKey,
    unavailable: () => noPackage() ?? noKey(),
    open: async () => {
      const module = await loadProvider(packageName)
      const { addressedFetch } = await import('./addressed-fetch.ts')
      const keyHeader =
        config.apiKeyHeader === undefined || key === undefined ? undefined : { name: config.apiKeyHeader, key }
      const factory = config.url === undefined ? entry.factory : 'createOpenAI'
      const made = makeProvider(module, factory, packageName, {
        // The provider requires a key, so a server that needs none gets a placeholder.
        ...(key === undefined ? config.url !== undefined && { apiKey: 'none' } : { apiKey: key }),
        ...(url !== undefined && { baseURL: url }),
        fetch: addressedFetch({ query, keyHeader }),
        ...withHeaders(config.headers),
      })
      const modelId = config.id.slice(config.id.indexOf('/') + 1)
      // OpenAI-compatible servers support chat completions; OpenAI itself also supports the Responses API.
      const isOpenAICompatible = url !== undefined && !url.startsWith('https://api.openai.com/')
      return toCallable(isOpenAICompatible ? chatModel(made, modelId) : made(modelId), packageName)
    },
    endpointKey: endpointKey(url ?? provider, query, name, key),
    keyHint: config.url === undefined || variable.startsWith('model.') ? variable : `model.apiKey, or ${variable}`,
  }
}

function findKey(
  provider: string,
  variable: string | undefined,
  { id, apiKey, apiKeyFile }: ModelConfig,
  environment: Environment,
): { key: string | undefined; variable: string; trouble?: string } {
  if (apiKey !== undefined) return { key: apiKey, variable: 'model.apiKey' }
  if (apiKeyFile !== undefined) return { variable: 'model.apiKeyFile', ...keyInFile(id, apiKeyFile) }
  const own = environment.SPANSCORE_OPENAI_API_KEY
  if (provider === 'openai' && own) return { key: own, variable: 'SPANSCORE_OPENAI_API_KEY' }
  const key = variable === undefined ? undefined : environment[variable]
  return { key: key === '' ? undefined : key, variable: variable ?? `the credentials of ${provider}` }
}

/** The file is read each time, because others replace it. */
function keyInFile(model: string, path: string): { key: string | undefined; trouble?: string } {
  const expected = `The judge ${model}: expected model.apiKeyFile ${path} to be a file with an API key`
  try {
    const key = process.getBuiltinModule('node:fs').readFileSync(path, 'utf8').trim()
    return key === '' ? { key: undefined, trouble: `${expected}, got an empty one.` } : { key }
  } catch (error) {
    return { key: undefined, trouble: `${expected}, got ${isRecord(error) ? String(error.code) : 'none'}.` }
  }
}

/** The packages append paths to a base URL, so its query must not be in it. */
function splitUrl(given: string | undefined): { base: string | undefined; query: string } {
  const at = given?.indexOf('?') ?? -1
  return at < 0 ? { base: given, query: '' } : { base: given?.slice(0, at), query: given?.slice(at) ?? '' }
}

function openAIBaseUrl(environment: Environment): string | undefined {
  return environment.SPANSCORE_OPENAI_BASE_URL || environment.OPENAI_BASE_URL || undefined
}

function withHeaders(headers: Readonly<Record<string, string>> | undefined): { headers?: Record<string, string> } {
  return headers === undefined ? {} : { headers: { ...headers } }
}

/** A key that does not reveal the secret. */
function endpointKey(...parts: readonly (string | undefined)[]): string {
  return nodeCrypto().createHash('sha256').update(JSON.stringify(parts)).digest('base64')
}

function missingPackage(packageName: string, model: string): string | undefined {
  // If not even this package is found, the application is bundled into one file, whose contents are unknown.
  if (isFound(packageName) || !isFound('spanscore/package.json')) return undefined
  return `The judge ${model} needs the package ${packageName}, which is not installed: ${installing(packageName)}`
}

function isFound(specifier: string): boolean {
  try {
    // Not imported, because bundlers try to follow `createRequire`.
    process
      .getBuiltinModule('node:module')
      .createRequire(import.meta.url)
      .resolve(specifier)
    return true
  } catch (error) {
    // Other errors mean that the package exists but cannot be required, such as an ESM-only package.
    return !isRecord(error) || error.code !== 'MODULE_NOT_FOUND'
  }
}

function missingKey(model: string, variable: string): string {
  const own = variable === 'OPENAI_API_KEY' ? 'SPANSCORE_OPENAI_API_KEY or OPENAI_API_KEY' : variable
  return `The judge ${model} has no API key: set ${own}, or AI_GATEWAY_API_KEY to go through the AI Gateway.`
}

/** Creates a model from an id. */
type MakeModel = (modelId: string) => unknown

function makeProvider(module: unknown, factory: string, packageName: string, settings: object): MakeModel {
  // A module namespace has no prototype, but is a record too.
  const make: unknown = isRecord(module) ? module[factory] : undefined
  const made: unknown = typeof make === 'function' ? make(settings) : undefined
  if (!isMakeModel(made)) {
    throw new TypeError(`Expected ${packageName} to export ${factory}; pass an instance of its model instead of an id.`)
  }
  return made
}

function isMakeModel(value: unknown): value is MakeModel {
  return typeof value === 'function'
}

function chatModel(provider: MakeModel, modelId: string): unknown {
  return 'chat' in provider && isMakeModel(provider.chat) ? provider.chat(modelId) : undefined
}

function toCallable(model: unknown, packageName: string): CallableModel {
  if (isCallableModel(model)) return model
  throw new TypeError(
    `Expected ${packageName} to give a language model of specification v2, v3 or v4, as for AI SDK 5 or later; install a newer version, or pass an instance of a model.`,
  )
}

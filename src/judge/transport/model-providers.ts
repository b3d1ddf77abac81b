import { closestName } from '../../scoring/closest-name.ts'
import { formatValue } from '../../scoring/format-value.ts'

/** A provider's package: what it exports, and which environment variable holds its key. */
export interface ProviderEntry {
  /** The name of the package's factory. */
  readonly factory: string
  /** Environment variable of the API key; absent if the provider authenticates in other ways. */
  readonly key?: string
}

/**
 * AI SDK providers whose factory or key does not follow from the name. For others, `create<Name>` and `<NAME>_API_KEY` are tried.
 */
const entries: Readonly<Record<string, ProviderEntry>> = {
  'amazon-bedrock': { factory: 'createAmazonBedrock' },
  anthropic: { factory: 'createAnthropic', key: 'ANTHROPIC_API_KEY' },
  azure: { factory: 'createAzure', key: 'AZURE_API_KEY' },
  cerebras: { factory: 'createCerebras', key: 'CEREBRAS_API_KEY' },
  cohere: { factory: 'createCohere', key: 'COHERE_API_KEY' },
  deepinfra: { factory: 'createDeepInfra', key: 'DEEPINFRA_API_KEY' },
  deepseek: { factory: 'createDeepSeek', key: 'DEEPSEEK_API_KEY' },
  fireworks: { factory: 'createFireworks', key: 'FIREWORKS_API_KEY' },
  google: { factory: 'createGoogleGenerativeAI', key: 'GOOGLE_GENERATIVE_AI_API_KEY' },
  'google-vertex': { factory: 'createVertex' },
  groq: { factory: 'createGroq', key: 'GROQ_API_KEY' },
  mistral: { factory: 'createMistral', key: 'MISTRAL_API_KEY' },
  openai: { factory: 'createOpenAI', key: 'OPENAI_API_KEY' },
  perplexity: { factory: 'createPerplexity', key: 'PERPLEXITY_API_KEY' },
  togetherai: { factory: 'createTogetherAI', key: 'TOGETHER_API_KEY' },
  xai: { factory: 'createXai', key: 'XAI_API_KEY' },
}

/** What is known about a provider, or follows from its name. */
export function providerEntry(provider: string): ProviderEntry {
  const known = Object.hasOwn(entries, provider) ? entries[provider] : undefined
  if (known !== undefined) return known
  const words = provider.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  return {
    factory: `create${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`,
    key: keyVariable(provider),
  }
}

/**
 * What to do about a missing package of an unknown provider. Its name may be misspelt, and nobody should install a package with a misspelt
 * name. `undefined` if the provider is known, or the package is not a provider's.
 */
export function adviceForUnknownProvider(packageName: string, model: string): string | undefined {
  const provider = /^@ai-sdk\/(.+)$/.exec(packageName)?.[1]
  const known = Object.keys(entries)
  if (provider === undefined || known.includes(provider)) return undefined
  const meant = closestName(provider, known)
  const question = meant === undefined ? '' : ` Did you mean ${meant}${model.slice(provider.length)}?`
  return (
    `The judge ${model} names the provider ${formatValue(provider)}, which is unknown.${question} ` +
    `Known providers: ${known.join(', ')}. For any other, pass a model instance of its AI SDK package.`
  )
}

/** `open-router` → `OPEN_ROUTER_API_KEY` */
function keyVariable(provider: string): string {
  return `${provider.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_API_KEY`
}

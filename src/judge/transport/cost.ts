import type { Usage } from '../../model/message.ts'
import { prices } from './prices.ts'
import type { Price } from './price.ts'

/**
 * The list price of `<provider>/<model>`. Ignores a snapshot's date (`-2024-07-18`, `-20250929`, `-latest`), and accepts the AI Gateway's
 * form of Anthropic versions (`4.5` for `4-5`).
 */
export function priceOf(model: string): Price | undefined {
  const undated = model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '')
  const dashed = undated.startsWith('anthropic/') ? undated.replaceAll('.', '-') : undated
  const name = [model, undated, dashed].find((known) => Object.hasOwn(prices, known))
  return name === undefined ? undefined : prices[name]
}

/**
 * The list price of a model by its name alone, as spans record it. Model names are unique in the table. A third-party host may bill another
 * price.
 */
export function priceByName(model: string): Price | undefined {
  const known = [model, ...PROVIDERS.map((provider) => `${provider}/${model}`)].map(priceOf)
  return known.find((price) => price !== undefined)
}

const PROVIDERS: readonly string[] = [...new Set(Object.keys(prices).map((name) => name.split('/')[0] ?? ''))]

/**
 * The cost of one call in US dollars; `undefined` if the price is unknown or the provider did not report its usage.
 */
export function costUsd(price: Price | undefined, usage: Usage): number | undefined {
  const { inputTokens, outputTokens } = usage
  if (price === undefined || inputTokens === undefined || outputTokens === undefined) return undefined
  if (inputTokens > (price.upToInputTokens ?? Infinity)) return undefined
  const cached = Math.min(usage.cacheReadTokens ?? 0, inputTokens)
  const written = Math.min(usage.cacheWriteTokens ?? 0, inputTokens - cached)
  const input =
    (inputTokens - cached - written) * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input)
  return (input + outputTokens * price.output) / 1_000_000
}

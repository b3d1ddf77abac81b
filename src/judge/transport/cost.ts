import type { Usage } from '../../model/message.ts'
import { prices } from './prices.ts'
import type { Price } from './price.ts'

/**
 * The list price of `<provider>/<model>`. A snapshot's date (`-2024-07-18`, `-20250929`, `-latest`) does not matter, nor how the
 * AI Gateway writes Anthropic's versions (`4.5` for `4-5`).
 */
export function priceOf(model: string): Price | undefined {
  const undated = model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '')
  const dashed = undated.startsWith('anthropic/') ? undated.replaceAll('.', '-') : undated
  const name = [model, undated, dashed].find((known) => Object.hasOwn(prices, known))
  return name === undefined ? undefined : prices[name]
}

/**
 * The list price of a model by its name alone, as spans record it: no two providers of the table have a model of one name. A host
 * other than its maker may bill another price.
 */
export function priceByName(model: string): Price | undefined {
  const known = [model, ...PROVIDERS.map((provider) => `${provider}/${model}`)].map(priceOf)
  return known.find((price) => price !== undefined)
}

const PROVIDERS: readonly string[] = [...new Set(Object.keys(prices).map((name) => name.split('/')[0] ?? ''))]

/**
 * What the tokens of one call cost, in US dollars; `undefined` where the price is unknown or the provider did not count them.
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

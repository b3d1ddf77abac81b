import type { Usage } from '../spans/message.ts'
import { prices } from './prices.ts'
import type { Price } from './prices.ts'

/** The list price of `<provider>/<model>`; a snapshot's date (`-2024-07-18`, `-20250929`, `-latest`) does not matter. */
export function priceOf(model: string): Price | undefined {
  const undated = model.replace(/-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '')
  const name = Object.hasOwn(prices, model) ? model : undated
  return Object.hasOwn(prices, name) ? prices[name] : undefined
}

/**
 * What tokens cost, in US dollars; `undefined` where the price is unknown or the provider did not count them.
 *
 * @param model `<provider>/<model>`
 */
export function costUsd(model: string, usage: Usage): number | undefined {
  const price = priceOf(model)
  const { inputTokens, outputTokens, cacheReadTokens = 0 } = usage
  if (price === undefined || inputTokens === undefined || outputTokens === undefined) return undefined
  const cached = Math.min(cacheReadTokens, inputTokens)
  const input = (inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input)
  return (input + outputTokens * price.output) / 1_000_000
}

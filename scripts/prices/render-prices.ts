interface PriceData {
  /** Day on which the prices were last looked at, `2026-11-20`. */
  readonly asOf: string
  readonly usdPerMillionTokens: Readonly<Record<string, Readonly<Record<string, number>>>>
}

/** The module with the prices, from the text of prices.json. */
export function renderPrices(json: string): string {
  const { asOf, usdPerMillionTokens }: PriceData = JSON.parse(json)
  const rows = Object.entries(usdPerMillionTokens).map(([model, price]) => {
    const fields = Object.entries(price).map(([name, value]) => `${name}: ${writeNumber(value)}`)
    const line = `  '${model}': { ${fields.join(', ')} },`
    return line.length <= 120 ? line : [`  '${model}': {`, ...fields.map((field) => `    ${field},`), '  },'].join('\n')
  })
  return `import type { Price } from './price.ts'

// Written by \`node scripts/prices/main.ts\` from scripts/prices/prices.json: change it there.

/** Day on which the list prices below were last looked at. Providers change them; what is billed is what they say. */
export const pricesAsOf = '${asOf}'

/**
 * List prices by \`<provider>/<model>\`, for text, at the standard tier. A model that is not here has an unknown cost, never a
 * cost of 0.
 */
export const prices: Readonly<Record<string, Price>> = {
${rows.join('\n')}
}
`
}

/** 272000 is written 272_000, as the formatter wants it. */
function writeNumber(value: number): string {
  return Number.isInteger(value) ? String(value).replaceAll(/\B(?=(\d{3})+$)/g, '_') : String(value)
}

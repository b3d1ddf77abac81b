import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

import { renderPrices } from '../../../scripts/prices/render-prices.ts'

it('equals the table that node scripts/prices/main.ts writes', () => {
  const data = readFileSync(new URL('../../../scripts/prices/prices.json', import.meta.url), 'utf8')
  expect(readFileSync(new URL('prices.ts', import.meta.url), 'utf8')).toBe(renderPrices(data))
})

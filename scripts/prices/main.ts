import { readFileSync, writeFileSync } from 'node:fs'

import { renderPrices } from './render-prices.ts'

/** Writes the table of prices from its data: run it after a change of prices.json, in which the date is to be set too. */
const data = readFileSync(new URL('prices.json', import.meta.url), 'utf8')
writeFileSync(new URL('../../src/judge/transport/prices.ts', import.meta.url), renderPrices(data))

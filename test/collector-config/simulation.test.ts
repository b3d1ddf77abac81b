import { expect, it } from 'vitest'

import { simulateSeries } from '../../scripts/simulate/series.ts'
import { DROPS, RATES, SETTINGS } from '../../scripts/simulate/settings.ts'

it('a simulated series does not page for a season above a level that was set by hand, and finds a real fall', () => {
  const setting = SETTINGS.findIndex(({ name }) => name.includes('season'))
  const rate = RATES.findIndex(({ runsPerHour, sample }) => runsPerHour === 1000 && sample === 1)
  expect(simulateSeries({ kind: 'month', setting, rate, series: 0 })).toEqual({ pages: 0, tickets: 0 })
  const drop = DROPS.findIndex(({ scored, fall }) => scored === 1000 && fall === 0.1)
  expect(simulateSeries({ kind: 'drop', drop, series: 0 }).foundAfterHours).toBeLessThan(2)
})

import { describe, expect, it } from 'vitest'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { compareWithPromtool, MINUTES } from '../../scripts/simulate/agreement.ts'
import { simulateSeries } from '../../scripts/simulate/series.ts'
import { DROPS, RATES, SETTINGS } from '../../scripts/simulate/settings.ts'

const promtool = findProgram('promtool')

describe.skipIf(promtool === undefined)('the evaluator, compared with promtool', { timeout: 600_000 }, () => {
  it('gives the evidence that promtool gives, to nine digits, over a day with restarts and gaps', () => {
    const { compared, worst } = compareWithPromtool(promtool ?? '', MINUTES, { mean: 0.7, passed: 0.8, together: 1 })
    expect(compared).toBeGreaterThan(250)
    expect(worst).toBeLessThan(1e-9)
  })

  it('gives it too if levels are set by hand and runs share causes', () => {
    const levels = { mean: 0.7, passed: 0.8, together: 3, usual: { mean: 0.9, passed: 0.88 } }
    const { compared, worst } = compareWithPromtool(promtool ?? '', MINUTES / 3, levels)
    expect(compared).toBeGreaterThan(100)
    expect(worst).toBeLessThan(1e-9)
  })
})

describe('a simulated series', () => {
  it('does not page for a season above a level that was set by hand, and finds a real fall', () => {
    const setting = SETTINGS.findIndex(({ name }) => name.includes('season'))
    const rate = RATES.findIndex(({ runsPerHour, sample }) => runsPerHour === 1000 && sample === 1)
    expect(simulateSeries({ kind: 'month', setting, rate, series: 0 })).toEqual({ pages: 0, tickets: 0 })
    const drop = DROPS.findIndex(({ scored, fall }) => scored === 1000 && fall === 0.1)
    expect(simulateSeries({ kind: 'drop', drop, series: 0 }).foundAfterHours).toBeLessThan(2)
  })
})

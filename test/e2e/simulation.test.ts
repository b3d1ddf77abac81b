import { describe, expect, it } from 'vitest'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { compareWithPromtool, MINUTES } from '../../scripts/simulate/agreement.ts'

const promtool = findProgram('promtool') ?? ''

describe('the evaluator, compared with promtool', { timeout: 600_000 }, () => {
  it('gives the evidence that promtool gives, to nine digits, over a day with restarts and gaps', () => {
    const { compared, worst } = compareWithPromtool(promtool, MINUTES, { mean: 0.7, passed: 0.8, together: 1 })
    expect(compared).toBeGreaterThan(250)
    expect(worst).toBeLessThan(1e-9)
  })

  it('gives it too if levels are set by hand and runs share causes', () => {
    const levels = { mean: 0.7, passed: 0.8, together: 3, usual: { mean: 0.9, passed: 0.88 } }
    const { compared, worst } = compareWithPromtool(promtool, MINUTES / 3, levels)
    expect(compared).toBeGreaterThan(100)
    expect(worst).toBeLessThan(1e-9)
  })
})

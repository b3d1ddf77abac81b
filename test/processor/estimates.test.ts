import { expect, test } from 'vitest'

import { CASES, estimate } from './estimate-cases.ts'

/**
 * The bias is within max(.02, 1 − accounted), all runs are accounted for if none is lost, and the stated interval holds the true mean.
 */
test.each(Object.entries(CASES))('%s: sums represent all runs', { timeout: 120_000 }, async (name, { loses }) => {
  const { bias, accounted, withInterval, covered } = await estimate(name)
  expect(Math.abs(bias)).toBeLessThanOrEqual(Math.max(0.02, 1 - accounted))
  // If runs are lost, `accounted` shows it.
  const [from, to] = loses === true ? [0, 0.98] : [0.95, 1.000001]
  expect(accounted).toBeGreaterThanOrEqual(from)
  expect(accounted).toBeLessThanOrEqual(to)
  expect(withInterval).toBeGreaterThan(0.5)
  expect(covered).toBeGreaterThanOrEqual(0.93)
})

import { describe, expect, it } from 'vitest'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { addWeighted, weightedMean } from '../../src/sampling/weighted-mean.ts'
import { counter } from './alert-scenarios.ts'
import { play } from './promtool.ts'

const promtool = findProgram('promtool')

/** A test of promtool: each expression has this value, to nine digits. */
const values = (name: string, series: readonly object[], at: string, expected: Readonly<Record<string, number>>) => ({
  name,
  interval: '1m',
  input_series: series,
  promql_expr_test: Object.entries(expected).map(([expr, value]) => ({
    expr: `sum(abs((${expr}) - ${value}) < bool 1e-9 * ${Math.max(1, Math.abs(value))})`,
    eval_time: at,
    exp_samples: [{ labels: '{}', value: 1 }],
  })),
})

describe.skipIf(promtool === undefined)('the rules, in promtool', { timeout: 600_000 }, () => {
  it('give the mean and the interval that weightedMean gives', () => {
    // The runs that are scored in a minute, with their probabilities and scores.
    const runs = [
      [1, 0],
      [1, 0.4],
      [0.05, 1],
      [0.05, 0.75],
      [0.25, 0.9],
    ] as const
    const nothing = { w: 0, wy: 0, wy2: 0, w2: 0, w2y: 0, w2y2: 0 }
    const minute = runs.reduce((sums, [probability, y]) => addWeighted(sums, probability, y), nothing)
    const labels = {
      job: 'shop',
      gen_ai_agent_name: 'support',
      gen_ai_evaluation_name: 'prompt_alignment',
      spanscore_scorer_version: '1a2b3c4d',
    }
    const series = Object.entries(minute).map(([name, value]) =>
      counter(
        `spanscore_sum_${name}_total`,
        name === 'w' || name === 'w2' ? { ...labels, gen_ai_evaluation_score_label: 'pass' } : labels,
        Array.from({ length: 120 }, () => value),
      ),
    )
    const hour = Object.fromEntries(Object.entries(minute).map(([name, value]) => [name, 60 * value]))
    const { mean, n, interval95 } = weightedMean(hour as typeof minute)!
    const expected = {
      'spanscore:mean:1h': mean,
      'spanscore:n:1h': n,
      'spanscore:mean_lower:1h': interval95[0],
      'spanscore:mean_upper:1h': interval95[1],
    }
    expect(play(values('interval', series, '120m', expected))).toContain('SUCCESS')
  })
})

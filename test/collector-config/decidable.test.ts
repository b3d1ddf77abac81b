import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

import { findProgram } from '../../scripts/e2e-tools.ts'
import { runsNeeded } from '../../scripts/rules/runs-needed.ts'
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

describe('the runs that a fall needs', () => {
  it('are in docs/numbers.md as the rules compute them', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../../docs/numbers.md'), 'utf8')
    const rows = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
    const header = rows.find((cells) => cells[1] === 'good level') ?? []
    const falls = header.slice(2, -1).map((cell) => Number(cell.replace('fall of ', '')))
    const shown = rows.filter((cells) => cells.length === header.length && /^0\.\d+$/.test(cells[1] ?? ''))
    expect(shown.length).toBeGreaterThan(4)
    for (const [, level, ...cells] of shown) {
      const needed = falls.map((fall) => Math.ceil(runsNeeded(Number(level), fall)).toLocaleString('en'))
      expect(cells.slice(0, -1), `good level ${level}`).toEqual(needed)
    }
  })
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

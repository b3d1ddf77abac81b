import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'

import { recordingGroups } from '../../scripts/rules/recording.ts'
import { rulesFile } from '../../scripts/rules/main.ts'
import { findProgram } from '../../scripts/e2e-tools.ts'
import type { Calibration } from '../../cli/src/calibration/calibration.ts'
import { correctedShare } from '../../cli/src/calibration/corrected-share.ts'
import { calibrationRules } from '../../cli/src/calibration/rules.ts'
import { traffic } from '../collector-config/alert-scenarios.ts'
import type { Series } from '../collector-config/alert-scenarios.ts'

const promtool = findProgram('promtool')
if (promtool === undefined) {
  console.warn('The rules of calibrations are NOT CHECKED: promtool is missing, node scripts/e2e-tools.ts gets it.')
}
const directory = mkdtempSync(join(tmpdir(), 'spanscore-calibration-rules-'))
afterAll(() => rmSync(directory, { recursive: true }))

const calibration: Calibration = {
  scorer: 'prompt_alignment',
  version: '1a2b3c4d',
  judgeModel: 'judge-1',
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-14T00:00:00.000Z',
  labelledAt: '2026-11-15T09:00:00Z',
  judged: 3000,
  labelledPass: 120,
  labelledFail: 80,
  judgePassed: 0.85,
  confusion: { tp: 0.807, fn: 0.043, tn: 0.105, fp: 0.045 },
  sensitivity: 0.95,
  sensitivity95: [0.9, 0.98],
  sensitivityVariance: 0.0004,
  specificity: 0.7,
  specificity95: [0.6, 0.8],
  specificityVariance: 0.0026,
  covariance: -0.0002,
  kappa: 0.65,
  ppi: { mean: 0.85, interval95: [0.8, 0.9], lambda: 0.4 },
  reference: {
    at: '2026-11-15T10:00:00Z',
    set: '0a0a0a0a',
    pass: { runs: 600, agreed: 580 },
    fail: { runs: 400, agreed: 360 },
  },
}
const other: Calibration = { ...calibration, scorer: 'relevancy', specificity: 0.34, judgeModel: 'a "quoted" \\ model' }

interface Check {
  readonly at: string
  readonly expr: string
  readonly value: number
}

/** Lets promtool run the rules of calibrations on some series; those of the canary need no shipped rules beside them. */
function play(
  calibrations: readonly Calibration[],
  series: readonly Series[],
  checks: readonly Check[],
  { needsRecording = true } = {},
): string {
  const rules = join(directory, 'calibration.yml')
  writeFileSync(rules, calibrationRules(calibrations))
  const shipped = needsRecording ? recordingGroups() : []
  const groups = [...shipped, ...groupsOf(calibrations)].map(({ name }) => name)
  const file = join(directory, 'test.yml')
  const promql_expr_test = checks.map(({ at, expr, value }) => ({
    expr: `sum(${expr}) or vector(0)`,
    eval_time: at,
    exp_samples: [{ labels: '{}', value }],
  }))
  const tests = [{ interval: '1m', input_series: series, promql_expr_test }]
  writeFileSync(
    file,
    stringify({
      rule_files: needsRecording ? [rulesFile, rules] : [rules],
      // Prometheus finds a recorded value for less than five minutes; the days of the canary are only queried on the hour.
      evaluation_interval: needsRecording ? '4m' : '1h',
      group_eval_order: groups,
      tests,
    }),
  )
  try {
    return execFileSync(promtool ?? '', ['test', 'rules', file], { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    throw new Error(String(Reflect.get(Object(error), 'stdout')), { cause: error })
  }
}

interface Group {
  readonly name: string
  readonly rules: readonly { readonly record?: string; readonly alert?: string; readonly expr: string }[]
}

function groupsOf(calibrations: readonly Calibration[]): readonly Group[] {
  const { groups }: { groups: Group[] } = parse(calibrationRules(calibrations))
  return groups
}

const firing = (alert: string) => `count(ALERTS{alertname="${alert}", alertstate="firing"})`
const near = (expression: string, value: number | string) => `abs(${expression} - (${value})) < bool 1e-9`

describe('the rules of a calibration', () => {
  it('are YAML, name each calibration, and watch for drift only if there is a reference', () => {
    expect(groupsOf([calibration]).map(({ name }) => name)).toEqual(['spanscore-calibration', 'spanscore-canary'])
    const { reference: _, ...without } = calibration
    expect(groupsOf([without]).map(({ name }) => name)).toEqual(['spanscore-calibration'])
    expect(calibrationRules([calibration, other])).toMatch(/^# relevancy .*withheld/m)
    const hostile = { ...calibration, judgeModel: 'a\n- alert: X\u0007\u007f\u2028"}' }
    expect(groupsOf([hostile]).map(({ name }) => name)).toEqual(['spanscore-calibration', 'spanscore-canary'])
    expect(groupsOf([hostile])[0]?.rules[0]?.expr).toContain('a\\n- alert: X\\u0007\\u007f\\u2028\\"}')
  })
})

describe.skipIf(promtool === undefined)('the rules of a calibration, in promtool', { timeout: 300_000 }, () => {
  it('are accepted by promtool', () => {
    const file = join(directory, 'checked.yml')
    const hostile = { ...calibration, judgeModel: 'a\n- alert: X\u0007\u007f\u2028"}' }
    writeFileSync(file, calibrationRules([calibration, other, hostile]))
    const said = execFileSync(promtool ?? '', ['check', 'rules', file], { encoding: 'utf8' })
    expect(said).toMatch(/SUCCESS: \d+ rules found/)
  })

  it('correct the share that passes, with its variance, as the library does', () => {
    const passed = 0.85
    const found = correctedShare(passed, Number.POSITIVE_INFINITY, calibration)
    const ofJudge = found?.variance ?? 0
    const checks: Check[] = ['1h', '1d'].flatMap((window) => [
      { at: '120m', expr: near(`spanscore:corrected_passed:${window}`, found?.share ?? 0), value: 1 },
      {
        at: '120m',
        expr: near(
          `spanscore:corrected_passed_variance:${window}`,
          `${ofJudge} + ${passed * (1 - passed)} / (scalar(spanscore:sum_w:${window}) / 3) / ${(0.95 + 0.7 - 1) ** 2}`,
        ),
        value: 1,
      },
      {
        at: '120m',
        expr: `spanscore:corrected_passed_lower:${window} < bool spanscore:corrected_passed:${window}`,
        value: 1,
      },
      { at: '120m', expr: `spanscore:corrected_passed_upper:${window} <= bool 1`, value: 1 },
    ])
    const series = traffic([{ minutes: 130, scored: 10, passes: passed, weight: 3 }])
    expect(play([calibration], series, checks)).toContain('SUCCESS')
  })

  it('clamp, and withhold the share of a judge whose verdicts depend too little on the run', () => {
    const all = traffic([{ minutes: 130, scored: 10, passes: 0.99 }])
    const none = traffic([{ minutes: 130, scored: 10, passes: 0.05 }])
    const corrected = 'spanscore:corrected_passed:1d'
    expect(play([calibration], all, [{ at: '120m', expr: corrected, value: 1 }])).toContain('SUCCESS')
    expect(play([calibration], none, [{ at: '120m', expr: corrected, value: 0 }])).toContain('SUCCESS')
    const quoted = traffic([{ minutes: 130, scored: 10 }], {
      gen_ai_evaluation_name: 'relevancy',
      spanscore_judge_model: 'a \\"quoted\\" \\\\ model',
    })
    const withheld = [
      { at: '120m', expr: `count(${corrected})`, value: 0 },
      { at: '120m', expr: 'count(spanscore:judge_sensitivity)', value: 1 },
    ]
    expect(play([other], quoted, withheld)).toContain('SUCCESS')
  })

  it('leave other versions and models uncalibrated', () => {
    const phases = [{ minutes: 130, scored: 10, passes: 0.9 }]
    const same = traffic(phases)
    const apart = [{ spanscore_scorer_version: '99999999' }, { spanscore_judge_model: 'judge-2' }].flatMap((labels) =>
      traffic(phases, labels).filter(({ series }) => !same.some((each) => each.series === series)),
    )
    const checks = [
      { at: '120m', expr: 'count(spanscore:corrected_passed:1d)', value: 1 },
      { at: '120m', expr: 'count(spanscore:uncalibrated:1d)', value: 2 },
      { at: '120m', expr: 'count(spanscore:uncalibrated:1d{spanscore_scorer_version="99999999"})', value: 1 },
      { at: '120m', expr: 'count(spanscore:uncalibrated:1d{spanscore_judge_model="judge-2"})', value: 1 },
    ]
    expect(play([calibration], [...same, ...apart], checks)).toContain('SUCCESS')
  })

  it('page when the judge agrees less with people than before, and end with the repair', () => {
    const day = 1440
    /** One pass each day, which queries find for five minutes. */
    const gauge = (metric: string, label: string, days: readonly number[]): Series => ({
      series: `${metric}{job="canary", gen_ai_evaluation_name="prompt_alignment", spanscore_scorer_version="1a2b3c4d", spanscore_judge_model="judge-1", spanscore_canary_label="${label}"}`,
      values: days.map((value) => `${value} _x${day - 1}`).join(' '),
    })
    const judged = (label: string, runs: number, agreed: readonly number[]) => [
      gauge(
        'spanscore_canary_judged',
        label,
        agreed.map(() => runs),
      ),
      gauge('spanscore_canary_agreed', label, agreed),
    ]
    // A judge that has become lenient still agrees on the good runs, but on fewer of the bad ones.
    const agreed = [72, 71, 72, 46, 45, 73, 72]
    const series = [...judged('pass', 120, [116, 117, 116, 119, 119, 116, 116]), ...judged('fail', 80, agreed)]
    const at = (days: number) => `${days * day + 60}m`
    const checks = [
      ...[0, 1, 2].map((days) => ({ at: at(days), expr: firing('SpanscoreJudgeDrifting'), value: 0 })),
      ...[3, 4].map((days) => ({ at: at(days), expr: firing('SpanscoreJudgeDrifted'), value: 1 })),
      ...[5, 6].map((days) => ({ at: at(days), expr: firing('SpanscoreJudgeDrifted'), value: 0 })),
      // The page continues through some hours without a pass.
      { at: `${4 * day + 1380}m`, expr: firing('SpanscoreJudgeDrifted'), value: 1 },
    ]
    expect(play([calibration], series, checks, { needsRecording: false })).toContain('SUCCESS')
  })

  it('add up the days of a week to find a small fall that no day shows', () => {
    const day = 1440
    const series = (['judged', 'agreed'] as const).flatMap((metric) =>
      (['pass', 'fail'] as const).map((label) => ({
        series: `spanscore_canary_${metric}{job="canary", gen_ai_evaluation_name="prompt_alignment", spanscore_scorer_version="1a2b3c4d", spanscore_judge_model="judge-1", spanscore_canary_label="${label}"}`,
        values: Array.from(
          { length: 9 },
          () => `${metric === 'judged' ? 80 : label === 'pass' ? 80 : 56}x4 _x${day - 5}`,
        ).join(' '),
      })),
    )
    const checks = [
      { at: '60m', expr: firing('SpanscoreJudgeDrifted'), value: 0 },
      { at: `${8 * day + 60}m`, expr: firing('SpanscoreJudgeDrifted'), value: 1 },
      // Five samples of one pass count once.
      { at: `${8 * day + 60}m`, expr: 'spanscore:canary_judged:7d{spanscore_canary_label="fail"}', value: 560 },
    ]
    expect(play([calibration], series, checks, { needsRecording: false })).toContain('SUCCESS')
  })
})

import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

import { dashboardFiles } from '../../scripts/dashboards/main.ts'
import { findProgram } from '../../scripts/e2e-tools.ts'
import { rulesFiles } from '../../scripts/rules/main.ts'
import { readTable, tableFile } from '../../scripts/rules/table.ts'
import { compressTime } from '../e2e/compress-time.ts'
import { counter, runs, scenario, traffic } from './alert-scenarios.ts'
import { play, rules, run } from './promtool.ts'

const promtool = findProgram('promtool')

const PAGE = 'SpanscoreScoresFell'
const good = { scored: 10, passes: 0.97 }
const bad = { scored: 10, passes: 0.5 }

describe('the rules', () => {
  it('equal the output of the table', () => {
    const files = rulesFiles()
    expect(readdirSync(rules).filter((name) => name.endsWith('.yml'))).toEqual(Object.keys(files))
    for (const [name, text] of Object.entries(files)) {
      expect(readFileSync(join(rules, name), 'utf8'), `npm run rules: ${name}`).toBe(text)
    }
  })

  it('are not written from an invalid table', () => {
    expect(() => readTable('page: 13')).toThrow(/ticket/)
    expect(() =>
      readTable(readFileSync(resolve(rules, '../rules-table.yaml'), 'utf8').replace('mean: 0.7', 'mean: 7')),
    ).toThrow(/mean/)
  })
})

describe.skipIf(promtool === undefined)('the rules, in promtool', { timeout: 600_000 }, () => {
  it('are accepted by promtool', () => {
    expect(run('check', 'rules', ...globSync('*.yml', { cwd: rules }))).not.toContain('FAILED')
  })

  it('fire, do not fire, and recover when scoring or delivery fails', () => {
    expect(run('test', 'rules', 'tests/alerts.test.yml')).toContain('SUCCESS')
  })

  it('page for a fall below the target within the quarter hour, once for all scorers of an agent, and end with the repair', () => {
    const phases = [
      { minutes: 120, ...good },
      { minutes: 60, ...bad },
      { minutes: 240, ...good },
    ]
    const series = ['prompt_alignment', 'toxicity', 'tool_call_accuracy'].flatMap((scorer) =>
      traffic(phases, { gen_ai_evaluation_name: scorer }),
    )
    const expected = [
      { at: '120m', alert: PAGE, firing: 0 },
      { at: '136m', alert: PAGE, firing: 1 },
      { at: '176m', alert: 'SpanscoreScoresSinking', firing: 1 },
      { at: '180m', alert: PAGE, firing: 1 },
      // The windows of one day and of three days still contain the fall; the last twelfth of each does not.
      { at: '340m', alert: PAGE, firing: 0 },
    ]
    expect(play(scenario('below target', series, expected))).toContain('SUCCESS')
  })

  it('page for a fall below the usual level, far above the target', () => {
    const series = traffic([
      { minutes: 420, scored: 10, passes: 0.99 },
      { minutes: 180, scored: 10, passes: 0.88 },
    ])
    const expected = [
      { at: '420m', alert: PAGE, firing: 0 },
      { at: '560m', alert: PAGE, firing: 1 },
    ]
    expect(play(scenario('usual', series, expected))).toContain('SUCCESS')
  })

  it('compare scores with a level from the table and nothing else, if it has one', () => {
    const shipped = readTable()
    const usual = { seasonal: { mean: 0.87, passed: 0.87 }, onlyMean: { mean: 0.87 }, strict: { passed: 0.97 } }
    const scorers = Object.entries(usual).map(([agent, levels]) => ({
      scorer: 'prompt_alignment',
      agent,
      usual: levels,
    }))
    const phases = [
      { minutes: 420, scored: 10, passes: 0.99 },
      { minutes: 180, scored: 10, passes: 0.88 },
    ]
    const agents = [...Object.keys(usual), 'learnt']
    const series = agents.flatMap((agent) => traffic(phases, { gen_ai_agent_name: agent }))
    const test = {
      ...scenario('by hand', series, []),
      promql_expr_test: [
        {
          expr: `count by (gen_ai_agent_name) (ALERTS{alertname="${PAGE}", alertstate="firing"})`,
          eval_time: '560m',
          exp_samples: ['learnt', 'strict'].map((agent) => ({ labels: `{gen_ai_agent_name="${agent}"}`, value: 1 })),
        },
      ],
    }
    expect(play(test, { ...shipped, scorers })).toContain('SUCCESS')
    expect(() => readTable(`${readFileSync(tableFile, 'utf8')}\n  - { scorer: s, usual: {} }`)).toThrow(/mean, passed/)
  })

  it('stay silent if all is well: few runs, sampled errors, no data, a separate target', () => {
    const quiet = [
      [
        'four failing runs',
        traffic([
          { minutes: 60, scored: 0 },
          { minutes: 4, scored: 1, passes: 0 },
          { minutes: 60, scored: 0 },
        ]),
      ],
      [
        'errors of weight 1 among runs of weight 20',
        [...traffic([{ minutes: 180, scored: 2, passes: 0.97, weight: 20 }])],
      ],
      ['nothing', []],
    ] as const
    for (const [name, series] of quiet) {
      expect(play(scenario(name, series, [{ at: '120m', alert: PAGE, firing: 0 }]))).toContain('SUCCESS')
    }
    // .85 is above the default and below the level that the table requires of tool_call_accuracy.
    const phases = [{ minutes: 600, scored: 10, passes: 0.85 }]
    const both = (scorer: string, firing: number) =>
      play(scenario(scorer, traffic(phases, { gen_ai_evaluation_name: scorer }), [{ at: '600m', alert: PAGE, firing }]))
    expect(both('prompt_alignment', 0)).toContain('SUCCESS')
    expect(both('tool_call_accuracy', 1)).toContain('SUCCESS')
  })

  it('describe runs without an agent name as those of an unnamed agent', () => {
    const series = traffic([{ minutes: 60, ...bad }], { gen_ai_agent_name: '' })
    const test = {
      ...scenario('unnamed', series, []),
      promql_expr_test: [
        {
          expr: `count by (gen_ai_agent_name) (ALERTS{alertname="${PAGE}", alertstate="firing"})`,
          eval_time: '60m',
          exp_samples: [{ labels: '{gen_ai_agent_name="unnamed agent"}', value: 1 }],
        },
      ],
    }
    expect(play(test)).toContain('SUCCESS')
  })

  it('do not compare versions: a stricter judge is a ticket, and the target still applies', () => {
    const usual = { minutes: 420, scored: 10, passes: 0.98 }
    const none = { minutes: 420, scored: 0 }
    const stricter = { minutes: 120, scored: 10, passes: 0.87 }
    const worse = { minutes: 60, scored: 10, passes: 0.5 }
    const series = [
      ...traffic([usual, { minutes: 180, scored: 0 }]),
      ...traffic([none, stricter, worse], { spanscore_scorer_version: '99999999' }),
    ].filter(({ series: name }, index, all) => all.findIndex((other) => other.series === name) === index)
    const expected = [
      { at: '536m', alert: PAGE, firing: 0 },
      { at: '536m', alert: 'SpanscoreNothingToCompare', firing: 1 },
      { at: '580m', alert: PAGE, firing: 1 },
    ]
    expect(play(scenario('version', series, expected))).toContain('SUCCESS')
  })

  it('report missing scores while runs continue, and after a page', () => {
    const silent = 'SpanscoreScorerSilent'
    const stops = [
      ...traffic([
        { minutes: 240, ...good },
        { minutes: 120, scored: 0 },
      ]),
      runs([[360, 10]]),
    ]
    const stopsExpected = [
      { at: '240m', alert: silent, firing: 0 },
      { at: '290m', alert: silent, firing: 1 },
    ]
    expect(play(scenario('stops', stops, stopsExpected))).toContain('SUCCESS')
    const pages = [
      ...traffic([
        { minutes: 120, ...good },
        { minutes: 30, ...bad },
        { minutes: 150, scored: 0 },
      ]),
      runs([
        [150, 10],
        [150, 0],
      ]),
    ]
    const pagesExpected = [
      { at: '150m', alert: PAGE, firing: 1 },
      // In every minute at least one of the two alerts fires.
      { at: '176m', alert: PAGE, firing: 1 },
      { at: '188m', alert: silent, firing: 1 },
      { at: '296m', alert: silent, firing: 1 },
    ]
    expect(play(scenario('pages', pages, pagesExpected))).toContain('SUCCESS')
    const never = [...traffic([{ minutes: 180, scored: 0.05 }]), runs([[180, 1]])]
    expect(play(scenario('rare', never, [{ at: '175m', alert: silent, firing: 0 }]))).toContain('SUCCESS')
  })

  it('count only chosen runs without a score as lost', () => {
    const unaccounted = 'SpanscoreUnaccounted'
    const lost = traffic([{ minutes: 180, scored: 10, lost: 1 }])
    expect(play(scenario('lost', lost, [{ at: '180m', alert: unaccounted, firing: 1 }]))).toContain('SUCCESS')
    // One of fifteen runs is lost, and each represents twenty: that is too little evidence.
    const few = traffic([{ minutes: 180, scored: 0.08, weight: 20, lost: 0.11 }])
    expect(play(scenario('few', few, [{ at: '180m', alert: unaccounted, firing: 0 }]))).toContain('SUCCESS')
    const thinned = [
      ...traffic([{ minutes: 180, scored: 1, weight: 10 }]),
      counter(
        'spanscore_evaluations_total',
        { job: 'shop', spanscore_outcome: 'skipped', spanscore_reason: 'thinned' },
        Array.from({ length: 180 }, () => 9),
      ),
    ]
    expect(play(scenario('thinned', thinned, [{ at: '180m', alert: unaccounted, firing: 0 }]))).toContain('SUCCESS')
  })

  it('warn if runs share causes that the table does not name', () => {
    // In one hour all runs pass and in the next a tenth of them fail: hours differ far more than by chance.
    const hours = Array.from({ length: 27 }, (_, hour) => ({
      minutes: 60,
      scored: 4,
      passes: hour % 2 === 0 ? 1 : 0.85,
    }))
    const steady = Array.from({ length: 27 }, () => ({ minutes: 60, scored: 4, passes: 0.93 }))
    const at = '1620m'
    const alert = 'SpanscoreRunsTogether'
    expect(play(scenario('together', traffic(hours), [{ at, alert, firing: 1 }]))).toContain('SUCCESS')
    expect(play(scenario('apart', traffic(steady), [{ at, alert, firing: 0 }]))).toContain('SUCCESS')
  })

  it('report series without their names', () => {
    const overflow = counter(
      'spanscore_sum_w_total',
      { job: 'shop', otel_metric_overflow: 'true' },
      Array.from({ length: 20 }, () => 1),
    )
    expect(
      play(scenario('overflow', [overflow], [{ at: '20m', alert: 'SpanscoreTooManySeries', firing: 1 }])),
    ).toContain('SUCCESS')
  })

  it('remain valid with the compressed times of the end-to-end tests', () => {
    const directory = mkdtempSync(join(tmpdir(), 'spanscore-rules-'))
    try {
      for (const name of ['recording.yml', 'alerts.yml']) {
        const compressed = compressTime(readFileSync(join(rules, name), 'utf8'), 60)
        expect(compressed).not.toMatch(/\[\d+[mhd][:\]]|:\d+[mhd]\]|(?:for|interval): \d+[mhd]/)
        writeFileSync(join(directory, name), compressed)
        expect(run('check', 'rules', join(directory, name))).not.toContain('FAILED')
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  it('and the expressions of the dashboards are valid PromQL', () => {
    interface Dashboard {
      readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
    }
    const expressions = Object.values(dashboardFiles).flatMap((text) => {
      const { panels }: Dashboard = JSON.parse(text())
      return panels.flatMap((panel) => panel.targets ?? []).map(({ expr }) => expr)
    })
    const asRules = expressions.map((expr, index) => ({ record: `panel:${index}`, expr }))
    const file = join(tmpdir(), `spanscore-panels-${process.pid}.yml`)
    try {
      writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }))
      expect(run('check', 'rules', file)).toContain(`SUCCESS: ${expressions.length} rules found`)
    } finally {
      rmSync(file, { force: true })
    }
  })
})

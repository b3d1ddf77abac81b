import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

import { dashboardFiles } from '../../scripts/dashboards/main.ts'
import { rulesFile } from '../../scripts/rules/main.ts'
import {
  conversations,
  counter,
  PAGES,
  runs,
  scenario,
  settings,
  traffic,
} from '../collector-config/alert-scenarios.ts'
import { play, run } from '../collector-config/promtool.ts'
import { compressTime } from './compress-time.ts'

const TARGET = 'SpanscoreBelowTarget'
const DROP = 'SpanscoreDropped'
const good = { scored: 10, passes: 0.97 }
const bad = { scored: 10, passes: 0.5 }
const DROPS = [
  { minutes: 420, scored: 10, passes: 0.99 },
  { minutes: 180, scored: 10, passes: 0.88 },
]

/** The target of one process, which shows it in these minutes. */
const targetOf = (target: number, from: number, to: number, instance: string) =>
  settings({ target_passed: target }, {}, 0, { instance }).map(({ series }) => ({
    series,
    values: `${from === 0 ? '' : `_x${from - 1} `}${target}x${to - from}`,
  }))

/** The target that the rules read, at a time. */
const targetAt = (time: string, value: number | undefined) => ({
  expr: 'sum by () (spanscore:setting{spanscore_setting="target_passed"})',
  eval_time: time,
  exp_samples: value === undefined ? [] : [{ labels: '{}', value }],
})

/** The runs of one release. */
const release = (version: string, values: string) => ({
  series: `spanscore_runs_total{job="shop", service_version="${version}"}`,
  values,
})

const LABELS = { job: 'shop', gen_ai_agent_name: 'support', gen_ai_evaluation_name: 'prompt_alignment' }
const OF_AGENT = 'job="shop", gen_ai_agent_name="support"'
const OF_SCORER = 'gen_ai_evaluation_name="prompt_alignment"'

/** The counter of a trait: passing and failing runs of each minute, in the first 100 minutes and in the 60 after them. */
const trait = (name: string, value: string, before: readonly [number, number], after: readonly [number, number]) =>
  (['pass', 'fail'] as const).map((label, index) =>
    counter(
      'spanscore_traits_total',
      {
        job: 'shop',
        gen_ai_agent_name: 'support',
        gen_ai_evaluation_name: 'prompt_alignment',
        gen_ai_evaluation_score_label: label,
        spanscore_trait: name,
        spanscore_trait_value: value,
      },
      Array.from({ length: 160 }, (_, minute) => (minute < 100 ? before : after)[index]),
    ),
  )

/** The counter of failing runs of an agent. */
const failCounter = (agent: string, values: string) => ({
  series: `spanscore_sum_w_total{job="shop", instance="a", gen_ai_agent_name="${agent}", gen_ai_evaluation_name="injection", gen_ai_evaluation_score_label="fail"}`,
  values,
})

const anySetting = (agent: string, values: string) => ({
  series: `spanscore_alert_setting{job="shop", instance="a", gen_ai_agent_name="${agent}", gen_ai_evaluation_name="injection", spanscore_setting="any_severity"}`,
  values,
})

const failedAt = (at: string, agents: readonly string[]) => ({
  expr: 'count by (gen_ai_agent_name, severity) (ALERTS{alertname="SpanscoreRunFailed", alertstate="firing"})',
  eval_time: at,
  exp_samples: agents.map((agent) => ({
    labels: `{gen_ai_agent_name="${agent}", severity="page"}`,
    value: 1,
  })),
})

const quietMessage = (job: string, why: string) => ({
  exp_labels: { severity: 'ticket', job },
  exp_annotations: {
    summary: `${job}: no agent run for 2h 10m 0s, so that no alert on scores can fire.`,
    description: `The last run ended at about 1 Jan 01:00 UTC.${why}`,
    runbook_url: '',
  },
})

/** A scenario with further expectations. */
const and = (test: object, ...expectations: readonly object[]) => {
  const already: unknown = Reflect.get(test, 'promql_expr_test')
  return { ...test, promql_expr_test: [...(Array.isArray(already) ? already : []), ...expectations] }
}

describe('the rules, in promtool', { timeout: 600_000 }, () => {
  it('fire, do not fire, and recover when scoring or delivery fails', () => {
    expect(run('test', 'rules', resolve(import.meta.dirname, 'faults.promtool.yml'))).toContain('SUCCESS')
  })

  it('page for a fall below the target within the quarter hour, and end with the repair', () => {
    const phases = [
      { minutes: 120, ...good },
      { minutes: 60, ...bad },
      { minutes: 240, ...good },
    ]
    const expected = [
      { at: '120m', alert: TARGET, firing: 0 },
      { at: '136m', alert: TARGET, firing: 1 },
      { at: '180m', alert: TARGET, firing: 1 },
      // The windows of one day and of three days still contain the fall; the last twelfth of each does not.
      { at: '340m', alert: TARGET, firing: 0 },
    ]
    expect(play(scenario('below target', [...traffic(phases), ...settings(PAGES)], expected))).toContain('SUCCESS')
  })

  it('page for one failing run for 30 minutes, through restarts, where single runs alert', () => {
    const series = [
      failCounter('one', '0x9 1x110'),
      anySetting('one', '2x120'),
      failCounter('again', '0x9 1x19 2x90'),
      anySetting('again', '2x120'),
      // The process restarts after the failing run, and its agent has not run since.
      failCounter('restarted', '0x9 1x4 stale'),
      anySetting('restarted', '2x14 stale'),
      failCounter('off', '0x9 1x110'),
    ]
    const test = and(
      scenario('single runs', series, []),
      failedAt('8m', []),
      failedAt('12m', ['again', 'one', 'restarted']),
      failedAt('36m', ['again', 'one', 'restarted']),
      failedAt('44m', ['again']),
      failedAt('64m', []),
    )
    expect(play(test)).toContain('SUCCESS')
  })

  it('page for a drop below the usual level, far above the target', () => {
    const expected = [
      { at: '420m', alert: DROP, firing: 0 },
      { at: '560m', alert: DROP, firing: 1 },
      { at: '560m', alert: TARGET, firing: 0 },
    ]
    expect(play(scenario('usual', [...traffic(DROPS), ...settings(PAGES)], expected))).toContain('SUCCESS')
  })

  it('have one alert for a scorer without settings: a ticket if it drops', () => {
    const low = [
      { minutes: 420, scored: 10, passes: 0.5 },
      { minutes: 120, scored: 10, passes: 0.2 },
    ]
    const expected = [
      { at: '420m', alert: TARGET, firing: 0 },
      { at: '420m', alert: DROP, firing: 0 },
      { at: '520m', alert: TARGET, firing: 0 },
      { at: '520m', alert: DROP, firing: 1 },
    ]
    const test = scenario('no settings', traffic(low), expected)
    const severities = {
      expr: 'count by (severity) (ALERTS{alertname=~"SpanscoreDropped|SpanscoreBelowTarget", alertstate="firing"})',
      eval_time: '520m',
      exp_samples: [{ labels: '{severity="ticket"}', value: 1 }],
    }
    expect(play(and(test, severities))).toContain('SUCCESS')
    const off = [...traffic(low), ...settings({ drop_severity: 0, runs_together: 1 })]
    expect(play(scenario('off', off, [{ at: '520m', alert: DROP, firing: 0 }]))).toContain('SUCCESS')
  })

  it('page, open a ticket, or do nothing below the target, as its severity says', () => {
    const phases = [
      { minutes: 60, ...good },
      { minutes: 60, ...bad },
    ]
    const agents = { page: 2, ticket: 1, off: 0 }
    const series = Object.entries(agents).flatMap(([agent, severity]) => [
      ...traffic(phases, { gen_ai_agent_name: agent }),
      ...settings({ ...PAGES, target_severity: severity }, { gen_ai_agent_name: agent }),
    ])
    const firing = {
      expr: `count by (gen_ai_agent_name, severity) (ALERTS{alertname="${TARGET}", alertstate="firing"})`,
      eval_time: '120m',
      exp_samples: ['page', 'ticket'].map((name) => ({
        labels: `{gen_ai_agent_name="${name}", severity="${name}"}`,
        value: 1,
      })),
    }
    expect(play(and(scenario('severities', series, []), firing))).toContain('SUCCESS')
  })

  it('compare scores with a usual level that is set and with nothing else', () => {
    const usual = { seasonal: { usual_mean: 0.87 }, strict: { usual_passed: 0.97 }, learnt: {} }
    const series = Object.entries(usual).flatMap(([agent, levels]) => [
      ...traffic(DROPS, { gen_ai_agent_name: agent }),
      ...settings({ ...levels, drop_severity: 2, runs_together: 1 }, { gen_ai_agent_name: agent }),
    ])
    const firing = {
      expr: `count by (gen_ai_agent_name) (ALERTS{alertname="${DROP}", alertstate="firing"})`,
      eval_time: '560m',
      exp_samples: ['learnt', 'strict'].map((agent) => ({ labels: `{gen_ai_agent_name="${agent}"}`, value: 1 })),
    }
    expect(play(and(scenario('by hand', series, []), firing))).toContain('SUCCESS')
  })

  it('take the lower target of two releases, the new one when the old one is gone, and keep it for a day', () => {
    const series = [
      ...traffic([{ minutes: 2000, scored: 10 }]),
      ...targetOf(0.6, 0, 120, 'old'),
      ...targetOf(0.9, 60, 240, 'new'),
    ]
    const expected = [
      targetAt('40m', 0.6),
      targetAt('100m', 0.6),
      targetAt('140m', 0.9),
      targetAt('600m', 0.6),
      targetAt('1900m', undefined),
    ]
    expect(play(and(scenario('rollout', series, []), ...expected), 4)).toContain('SUCCESS')
  })

  it('say what fell, from what to what, over how many runs, since when and after which release', () => {
    const phases = [
      { minutes: 100, ...good },
      { minutes: 60, scored: 4, passes: 0.4, lost: 6 },
    ]
    const series = [
      ...traffic(phases),
      ...settings({ ...PAGES, worst_score: 0, best_score: 10 }),
      release('1.4.0', '0+10x96'),
      release('1.5.0', '_x96 0+10x64'),
      // Of the failing runs, nearly all are German.
      ...trait('status', 'ok', [9.7, 0.3], [1.6, 2.4]),
      ...trait('app.language', 'de', [2, 0], [0.2, 2.4]),
      ...trait('app.language', 'en', [7.7, 0.3], [1.4, 0]),
      { series: `spanscore_agent_info{${OF_AGENT}, spanscore_agent_prompt="4b6162bd"}`, values: '1x96' },
      { series: `spanscore_agent_info{${OF_AGENT}, spanscore_agent_prompt="22579f7d"}`, values: '_x96 1x64' },
      { series: `spanscore_example{${OF_AGENT}, ${OF_SCORER}, spanscore_trace_id="30c2fc0d"}`, values: '_x120 1x40' },
      {
        series: `spanscore_scorer_info{job="shop", ${OF_SCORER}, spanscore_scorer_description="Whether the answer does what was asked."}`,
        values: '1x160',
      },
    ]
    const expected = {
      exp_labels: {
        severity: 'page',
        job: 'shop',
        gen_ai_agent_name: 'support',
        gen_ai_evaluation_name: 'prompt_alignment',
      },
      exp_annotations: {
        summary: 'support (shop): 60 % of 160 runs fail prompt_alignment since 1 Jan 01:40 UTC (target: at most 20 %).',
        description:
          'Likely the agent or what it depends on, and not the measurement. New version 1.5.0 of shop since 1 Jan 01:36 UTC. Its prompt changed at 1 Jan 01:36 UTC. In common: app.language = de: 92 % of these runs fail, of the others 0 %. For example traces 30c2fc0d. prompt_alignment: Whether the answer does what was asked. Of the runs chosen in the last day, 17 % have no score, so the real figure may be another.',
        runs_url: 'http://page/why?service=shop&agent=support&scorer=prompt_alignment&since=1970-01-01T01%3A40%3A00Z',
        dashboard_url: '',
        runbook_url: 'http://wiki/runbooks.md#spanscorebelowtarget',
      },
    }
    const test = {
      ...scenario('message', series, []),
      external_labels: {
        spanscore_runs_url: 'http://page/why?service={job}&agent={agent}&scorer={scorer}&since={since}',
        spanscore_runbook_url: 'http://wiki/runbooks.md',
      },
      alert_rule_test: [{ eval_time: '140m', alertname: TARGET, exp_alerts: [expected] }],
    }
    expect(play(test)).toContain('SUCCESS')
  })

  it("say a mean in the scorer's own units, also if lower is better", () => {
    const values = { target_mean: 0.7, target_severity: 2, drop_severity: 0, runs_together: 1 }
    const series = [
      ...traffic([{ minutes: 40, scored: 10, passes: 0.4 }]),
      ...settings({ ...values, worst_score: 5, best_score: 1 }),
    ]
    const labels = { job: 'shop', gen_ai_agent_name: 'support', gen_ai_evaluation_name: 'prompt_alignment' }
    const summary =
      'support (shop): the mean of prompt_alignment is 3.4 over 390 runs since 1 Jan 00:01 UTC (target 2.2, lower is better).'
    const description = 'Likely the agent or what it depends on, and not the measurement.'
    const exp_annotations = { summary, description, runs_url: '', dashboard_url: '', runbook_url: '' }
    const expected = { exp_labels: { severity: 'page', ...labels }, exp_annotations }
    const test = {
      ...scenario('mean', series, []),
      alert_rule_test: [{ eval_time: '40m', alertname: TARGET, exp_alerts: [expected] }],
    }
    expect(play(test)).toContain('SUCCESS')
  })

  it('stay silent if all is well: few runs, sampled errors, no data', () => {
    const quiet = [
      [
        'four failing runs',
        traffic([
          { minutes: 60, scored: 0 },
          { minutes: 4, scored: 1, passes: 0 },
          { minutes: 60, scored: 0 },
        ]),
      ],
      ['errors of weight 1 among runs of weight 20', traffic([{ minutes: 180, scored: 2, passes: 0.97, weight: 20 }])],
      ['nothing', []],
    ] as const
    for (const [name, series] of quiet) {
      const expected = [TARGET, DROP].map((alert) => ({ at: '120m', alert, firing: 0 }))
      expect(play(scenario(name, [...series, ...settings(PAGES)], expected))).toContain('SUCCESS')
    }
  })

  it('describe runs without an agent name as those of an unnamed agent', () => {
    const labels = { gen_ai_agent_name: '' }
    const series = [...traffic([{ minutes: 60, ...bad }], labels), ...settings(PAGES, labels)]
    const firing = {
      expr: `count by (gen_ai_agent_name) (ALERTS{alertname="${TARGET}", alertstate="firing"})`,
      eval_time: '60m',
      exp_samples: [{ labels: '{gen_ai_agent_name="unnamed agent"}', value: 1 }],
    }
    expect(play(and(scenario('unnamed', series, []), firing))).toContain('SUCCESS')
  })

  it('do not compare versions: a stricter judge is a ticket, and the target still applies', () => {
    const usual = { minutes: 420, scored: 10, passes: 0.98 }
    const none = { minutes: 420, scored: 0 }
    const stricter = { minutes: 120, scored: 10, passes: 0.87 }
    const worse = { minutes: 60, scored: 10, passes: 0.5 }
    const series = [
      ...traffic([usual, { minutes: 180, scored: 0 }]),
      ...traffic([none, stricter, worse], { spanscore_scorer_version: '99999999' }),
      ...settings(PAGES),
    ].filter(({ series: name }, index, all) => all.findIndex((other) => other.series === name) === index)
    const expected = [
      { at: '536m', alert: TARGET, firing: 0 },
      { at: '536m', alert: DROP, firing: 0 },
      { at: '536m', alert: 'SpanscoreNothingToCompare', firing: 1 },
      { at: '580m', alert: TARGET, firing: 1 },
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
      ...settings(PAGES),
    ]
    const pagesExpected = [
      { at: '150m', alert: TARGET, firing: 1 },
      // In every minute at least one of the two alerts fires.
      { at: '176m', alert: TARGET, firing: 1 },
      { at: '188m', alert: silent, firing: 1 },
      { at: '296m', alert: silent, firing: 1 },
    ]
    expect(play(scenario('pages', pages, pagesExpected))).toContain('SUCCESS')
    const never = [...traffic([{ minutes: 180, scored: 0.05 }]), runs([[180, 1]])]
    expect(play(scenario('rare', never, [{ at: '175m', alert: silent, firing: 0 }]))).toContain('SUCCESS')
  })

  it('page within ten minutes if a scorer that pages gives no scores any more, and say since when and why', () => {
    const series = [
      ...traffic([
        { minutes: 240, ...good },
        { minutes: 60, scored: 0 },
      ]),
      runs([[300, 10]]),
      ...settings(PAGES),
      release('1.4.0', '0+10x239'),
      release('1.5.0', '_x239 0+10x60'),
      counter(
        'spanscore_evaluations_total',
        { ...LABELS, spanscore_outcome: 'skipped', spanscore_reason: 'no-content' },
        Array.from({ length: 300 }, (_, minute) => (minute < 240 ? 0 : 10)),
      ),
    ]
    const silence = {
      exp_labels: { severity: 'page', ...LABELS },
      exp_annotations: {
        summary: 'support (shop): prompt_alignment gives no scores any more. How good the agent is, is not known.',
        description:
          'Until this is fixed, no alert on the scores of prompt_alignment can fire. The spans lack the messages, arguments or results that the scorer reads (no-content, 90 runs). The last score was at 1 Jan 04:00 UTC. New version 1.5.0 of shop since 1 Jan 03:59 UTC.',
        dashboard_url: '',
        runbook_url: '',
      },
    }
    const test = {
      ...scenario('silent', series, [
        { at: '240m', alert: 'SpanscoreScorerSilent', firing: 0 },
        { at: '249m', alert: 'SpanscoreScorerSilent', firing: 1 },
      ]),
      alert_rule_test: [{ eval_time: '249m', alertname: 'SpanscoreScorerSilent', exp_alerts: [silence] }],
    }
    expect(play(test)).toContain('SUCCESS')
  })

  it('say it if a fall would be found much later than a day before', () => {
    const fewer = [
      { minutes: 1500, scored: 2, passes: 0.95 },
      { minutes: 1600, scored: 0.04, passes: 0.95 },
    ]
    const expected = [
      { at: '1490m', alert: 'SpanscoreSlower', firing: 0 },
      { at: '3000m', alert: 'SpanscoreSlower', firing: 1 },
    ]
    expect(play(scenario('slower', [...traffic(fewer), ...settings(PAGES)], expected), 4)).toContain('SUCCESS')
  })

  it('report a service without runs for longer than it said, also if its process is gone', () => {
    const series = [
      runs([
        [60, 1],
        [140, 0],
      ]),
      { series: 'spanscore_runs_total{job="gone", spanscore_outcome="closed"}', values: '0+1x60' },
      ...['shop', 'gone'].map((job) => ({
        series: `spanscore_alert_setting{job="${job}", spanscore_setting="quiet"}`,
        values: job === 'gone' ? '7200x60' : '7200x200',
      })),
    ]
    const exp_alerts = [
      quietMessage(
        'shop',
        ' Its metrics still come: no requests reach it, its runs do not end, or its spans are not recorded any more.',
      ),
      quietMessage('gone', ' Its metrics have stopped, too: its process is gone, or they do not arrive.'),
    ]
    const test = {
      ...scenario('quiet', series, [{ at: '170m', alert: 'SpanscoreQuiet', firing: 0 }]),
      alert_rule_test: [{ eval_time: '190m', alertname: 'SpanscoreQuiet', exp_alerts }],
    }
    expect(play(test)).toContain('SUCCESS')
  })

  it('wait for the idle time of conversations each morning, and report if their scores are missing', () => {
    const silent = 'SpanscoreScorerSilent'
    // Of five runs a minute, a conversation ends each minute, 25 minutes after the first run. On the third day, the judge is silent.
    const [day, night, idle] = [300, 120, 25]
    const until = 2 * (day + night)
    const during = (count: number, isLate: boolean, days = 3) => {
      const late = isLate ? idle : 0
      return Array.from({ length: 3 }, (_, each): (readonly [number, number])[] => [
        [late, 0],
        [day, each < days ? count : 0],
        [night - late, 0],
      ]).flat()
    }
    const scored = during(1, true, 2).map(([minutes, count]) => ({ minutes, scored: count }))
    const series = [
      ...traffic(scored, {}, 'conversation'),
      runs(during(5, false)),
      conversations(during(1, true)),
      ...settings(PAGES),
    ]
    const morning = [12, 16, 20, 24, 28, 40].flatMap((minutes) =>
      [silent, TARGET, DROP].map((alert) => ({ at: `${day + night + minutes}m`, alert, firing: 0 })),
    )
    const expected = [
      ...morning,
      { at: `${until + 24}m`, alert: silent, firing: 0 },
      { at: `${until + 60}m`, alert: silent, firing: 1 },
    ]
    expect(play(scenario('conversations', series, expected), 4)).toContain('SUCCESS')
  })

  it('count only chosen runs without a score as lost', () => {
    const unaccounted = 'SpanscoreUnaccounted'
    const lost = traffic([{ minutes: 180, scored: 10, lost: 1 }])
    expect(play(scenario('lost', lost, [{ at: '180m', alert: unaccounted, firing: 1 }]), 4)).toContain('SUCCESS')
    // One of fifteen runs is lost, and each represents twenty: that is too little evidence.
    const few = traffic([{ minutes: 180, scored: 0.08, weight: 20, lost: 0.11 }])
    expect(play(scenario('few', few, [{ at: '180m', alert: unaccounted, firing: 0 }]), 4)).toContain('SUCCESS')
    const thinned = [
      ...traffic([{ minutes: 180, scored: 1, weight: 10 }]),
      counter(
        'spanscore_evaluations_total',
        { job: 'shop', spanscore_outcome: 'skipped', spanscore_reason: 'thinned' },
        Array.from({ length: 180 }, () => 9),
      ),
    ]
    expect(play(scenario('thinned', thinned, [{ at: '180m', alert: unaccounted, firing: 0 }]), 4)).toContain('SUCCESS')
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
      const compressed = compressTime(readFileSync(rulesFile, 'utf8'), 60)
      expect(compressed).not.toMatch(/\[\d+[mhd][:\]]|:\d+[mhd]\]|(?:for|interval): \d+[mhd]/)
      writeFileSync(join(directory, 'compressed.yml'), compressed)
      expect(run('check', 'rules', join(directory, 'compressed.yml'))).not.toContain('FAILED')
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

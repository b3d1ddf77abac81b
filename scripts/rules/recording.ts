import { skipReasons } from '../../src/scoring/read-verdict.ts'
import { LOST } from '../../src/sampling/weight.ts'
import { runsNeededRules } from './runs-needed.ts'
import { BEST, ENOUGH, FREEZE, LEAST, TWELFTH } from './table.ts'
import type { Fall, Goals, Table } from './table.ts'

/** A rule of Prometheus, in the form of its file. */
export interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly for?: string
  readonly keep_firing_for?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Rules that are evaluated one after the other. */
export interface RuleGroup {
  readonly name: string
  readonly interval: string
  readonly rules: readonly Rule[]
}

/** The labels that distinguish means: only scores of one version and one judge model are compared. */
const SERIES = 'job, gen_ai_agent_name, gen_ai_evaluation_name, spanscore_scorer_version, spanscore_judge_model'

/** The same, over versions and models. */
export const AGENT_AND_SCORER = 'job, gen_ai_agent_name, gen_ai_evaluation_name'

/** Runs whose agent has no name are labelled as those of an unnamed agent, so that alerts can name them. */
export const named = (expression: string): string =>
  `label_replace(${expression}, "gen_ai_agent_name", "unnamed agent", "gen_ai_agent_name", "")`

const increase = (metric: string, window: string) => named(`sum by (${SERIES}) (increase(${metric}[${window}]))`)

/** The sums of a window; those of the variance for the windows that have an interval. */
function sums(window: string): Rule[] {
  const hasInterval = window === '1h' || window === '1d'
  return [
    { record: `spanscore:sum_w:${window}`, expr: `${increase('spanscore_sum_w_total', window)} > 0` },
    {
      record: `spanscore:sum_pass:${window}`,
      expr: `${increase('spanscore_sum_w_total{gen_ai_evaluation_score_label="pass"}', window)} or 0 * spanscore:sum_w:${window}`,
    },
    { record: `spanscore:sum_wy:${window}`, expr: increase('spanscore_sum_wy_total', window) },
    { record: `spanscore:sum_w2:${window}`, expr: `${increase('spanscore_sum_w2_total', window)} > 0` },
    ...(hasInterval
      ? [
          { record: `spanscore:sum_w2y:${window}`, expr: increase('spanscore_sum_w2y_total', window) },
          { record: `spanscore:sum_w2y2:${window}`, expr: increase('spanscore_sum_w2y2_total', window) },
        ]
      : []),
  ]
}

/** The mean of a window, its variance, the effective number of runs, and Wilson's bounds. */
function interval(window: string): Rule[] {
  const of = (name: string) => `spanscore:${name}:${window}`
  return [
    { record: of('mean'), expr: `clamp(${of('sum_wy')} / ${of('sum_w')}, 0, 1)` },
    {
      record: of('mean_variance'),
      expr: variance(of('mean'), of),
    },
    { record: of('n'), expr: effective(of('mean'), of('mean_variance'), of) },
    { record: of('mean_lower'), expr: wilson(of('mean'), of('n'), '-') },
    { record: of('mean_upper'), expr: wilson(of('mean'), of('n'), '+') },
    { record: of('passed'), expr: `clamp_max(${of('sum_pass')} / ${of('sum_w')}, 1)` },
  ]
}

type Name = (name: string) => string

const variance = (mean: string, of: Name) =>
  `clamp_min(${of('sum_w2y2')} - 2 * ${mean} * ${of('sum_w2y')} + ${mean} ^ 2 * ${of('sum_w2')}, 0) / ${of('sum_w')} ^ 2`

const kish = (of: Name) => `${of('sum_w')} ^ 2 / ${of('sum_w2')}`

const effective = (mean: string, ofVariance: string, of: Name) =>
  `(clamp_min(${mean} * (1 - ${mean}) / (${ofVariance} > 1e-9), 1) < ${kish(of)}) or ${kish(of)}`

const wilson = (mean: string, n: string, sign: '+' | '-') =>
  `(${mean} + 1.9208 / ${n} ${sign} 1.96 * sqrt(${mean} * (1 - ${mean}) / ${n} + 0.9604 / ${n} ^ 2)) / (1 + 3.8416 / ${n})`

/**
 * The level that is almost certainly reached: three standard errors below the mean. At two, one series in forty would be compared
 * with a level that it never had, and page for it.
 */
const surely = (mean: string, n: string) =>
  `(${mean} + 4.5 / ${n} - 3 * sqrt(${mean} * (1 - ${mean}) / ${n} + 2.25 / ${n} ^ 2)) / (1 + 9 / ${n})`

/** The series of a line of the table; without a line, all. */
function seriesOf(line: Table['scorers'][number] | undefined): string {
  if (line === undefined) return 'spanscore:sum_w:3d'
  const agent = line.agent === undefined ? '' : `, gen_ai_agent_name="${line.agent}"`
  return `spanscore:sum_w:3d{gen_ai_evaluation_name="${line.scorer}"${agent}}`
}

/** A column of the table as a value for each series: that of the first line that fits and has one. */
function column({ scorers, default: rest }: Table, of: (goals: Goals) => number | undefined): string | undefined {
  const cells = [...scorers.map((line) => [line, of(line)] as const), [undefined, of(rest)] as const]
  const values = cells.flatMap(([line, value]) => (value === undefined ? [] : [`0 * ${seriesOf(line)} + ${value}`]))
  return values.length === 0 ? undefined : values.join('\nor ')
}

const atBest = (value: number | undefined) => (value === undefined ? undefined : Math.min(BEST, value))

/** What is usual: the surely reached level of the 14 days before the window, learnt only while nothing speaks against it. */
function usual(table: Table, window: string): Rule[] {
  const past: Name = (name) => `spanscore:past_${name}:${window}`
  const sum = (name: string): Rule => ({
    record: past(name),
    expr: `sum_over_time(spanscore:${name}:1h[14d:1h] offset ${window})`,
  })
  const learn = (measure: 'mean' | 'passed', learnt: string): Rule => {
    const record = `spanscore:usual_${measure}:${window}`
    const worse = `max by (${SERIES}) (spanscore:evidence{kind="usual"}) > ${FREEZE}`
    const expr = `(${learnt} and ${kish(past)} / spanscore:together >= ${ENOUGH}) unless (${worse})\nor (last_over_time(${record}[1h]) and (${worse}))`
    // If one measure is set by hand, the other is not learnt: learnt from days without a season, it would page for the season.
    const isSet = column(table, ({ usual: byHand }) => (byHand === undefined ? undefined : 1))
    if (isSet === undefined) return { record, expr }
    const byHand = column(table, ({ usual: levels }) => atBest(levels?.[measure]))
    return { record, expr: `${byHand === undefined ? '' : `${byHand}\nor `}((${expr}) unless (${isSet}))` }
  }
  return [
    ...['sum_w', 'sum_pass', 'sum_wy', 'sum_w2', 'sum_w2y', 'sum_w2y2'].map(sum),
    { record: past('mean'), expr: `clamp(${past('sum_wy')} / ${past('sum_w')}, 0, 1)` },
    { record: past('n'), expr: effective(past('mean'), `(${variance(past('mean'), past)})`, past) },
    learn('mean', `clamp_max(${surely(past('mean'), `(${past('n')} / spanscore:together)`)}, ${BEST})`),
    { record: past('passed'), expr: `clamp_max(${past('sum_pass')} / ${past('sum_w')}, 1)` },
    learn('passed', `clamp_max(${surely(past('passed'), `(${kish(past)} / spanscore:together)`)}, ${BEST})`),
  ]
}

const KINDS = ['target', 'usual'] as const
const MEASURES = ['mean', 'passed'] as const

/** The level that scores are compared with. */
const level = (kind: (typeof KINDS)[number], measure: string, window: string) =>
  kind === 'target' ? `spanscore:target_${measure}` : `spanscore:usual_${measure}:${window}`

/** Evidence of a fall within one window, in the sums of `over`. */
function evidence(good: string, measure: string, fall: number, over: string): string {
  const total = `spanscore:sum_w:${over}`
  const gained = measure === 'mean' ? `spanscore:sum_wy:${over}` : `spanscore:sum_pass:${over}`
  const fallen = `(${good} - ${fall} >= ${LEAST})`
  return [
    `(`,
    `  clamp_min(${total} - ${gained}, 0) * ln((1 - ${fallen}) / (1 - ${good}))`,
    `  + ${gained} * ln(${fallen} / ${good})`,
    `) * ${total} / spanscore:sum_w2:${over} / spanscore:together`,
  ].join('\n')
}

function evidences(falls: readonly Fall[]): Rule[] {
  return KINDS.flatMap((kind) =>
    MEASURES.flatMap((measure) =>
      falls.flatMap(({ window, fall }) => {
        const good = level(kind, measure, window)
        const labels = { kind, measure, window, fall: String(fall) }
        const twelfth = TWELFTH[window]
        const whole: Rule = { record: 'spanscore:evidence', expr: evidence(good, measure, fall, window), labels }
        if (twelfth === undefined) return [whole]
        return [whole, { record: 'spanscore:evidence_lately', expr: evidence(good, measure, fall, twelfth), labels }]
      }),
    ),
  )
}

/** The smallest fall below the target that this hour's traffic would show, if it went on: none where even 0 would not be found. */
function smallestFall({ falls, page }: Table): Rule {
  const found = falls.map(({ window, fall }) => {
    const good = 'spanscore:target_mean'
    const fallen = `(${good} - ${fall} >= ${LEAST})`
    const gain = `ln((1 - ${fallen}) / (1 - ${good}))`
    const loss = `ln(${good} / ${fallen})`
    const runs = `(spanscore:sum_w:${window} ^ 2 / spanscore:sum_w2:${window} / spanscore:together)`
    return `(${good} - ((${gain} - ${page} / ${runs}) / (${gain} + ${loss}) >= 0))`
  })
  const labelled = found.map((expr, index) => `label_replace(${expr}, "line", "${index}", "", "")`)
  return { record: 'spanscore:smallest_fall', expr: `min without (line) (\n${labelled.join('\nor ')}\n)` }
}

/** Whether runs of an hour share a cause: how much hours differ, over how much they would if runs were independent. */
const DISPERSION: Rule = {
  record: 'spanscore:together_measured',
  expr: [
    'sum_over_time((',
    '  (spanscore:mean:1h - spanscore:mean:1h offset 1h) ^ 2',
    '  and spanscore:sum_w:1h ^ 2 / spanscore:sum_w2:1h >= 10',
    '  and (spanscore:sum_w:1h offset 1h) ^ 2 / (spanscore:sum_w2:1h offset 1h) >= 10',
    ')[3d:1h])',
    '/ (sum_over_time((',
    '  (spanscore:mean_variance:1h + spanscore:mean_variance:1h offset 1h)',
    '  and spanscore:sum_w:1h ^ 2 / spanscore:sum_w2:1h >= 10',
    '  and (spanscore:sum_w:1h offset 1h) ^ 2 / (spanscore:sum_w2:1h offset 1h) >= 10',
    ')[3d:1h]) > 0)',
    'and count_over_time((spanscore:sum_w:1h ^ 2 / spanscore:sum_w2:1h >= 10)[3d:1h]) >= 24',
  ].join('\n'),
}

const chosen = (matcher: string) =>
  named(`sum by (${AGENT_AND_SCORER}) (increase(spanscore_chosen_w_total${matcher}[1d]))`)

const lostReasons: ReadonlySet<string> = LOST

/** Reasons for which a run is left out without having been chosen. */
const NOT_CHOSEN = Object.keys(skipReasons)
  .filter((reason) => !lostReasons.has(reason))
  .join('|')

/**
 * The outcome of the chosen runs. Numerator and denominator are of one instant: recorded two minutes apart, their
 * ratio would be too low for as long as both grow from nothing.
 */
const ACCOUNTED: readonly Rule[] = [
  { record: 'spanscore:chosen:1d', expr: `${chosen('')} > 0` },
  {
    record: 'spanscore:accounted:1d',
    expr: `clamp_max((${chosen('{spanscore_outcome="scored"}')} or 0 * spanscore:chosen:1d) / spanscore:chosen:1d, 1)`,
  },
  {
    record: 'spanscore:chosen_runs:1d',
    expr: named(
      `sum by (${AGENT_AND_SCORER}) (increase(spanscore_evaluations_total{spanscore_reason!~"${NOT_CHOSEN}"}[1d]))`,
    ),
  },
]

const allOfDay = (name: string) => `sum by (${AGENT_AND_SCORER}) (spanscore:${name}:1d)`

/** The recording rules. */
export function recordingGroups(table: Table): RuleGroup[] {
  const windows = [...new Set(table.falls.map(({ window }) => window))]
  const short = [...new Set(['15m', '30m', '1h', '2h', '6h'])]
  const gated = windows.filter((window) => TWELFTH[window] !== undefined)
  const prompt = windows.filter((window) => TWELFTH[window] === undefined)
  return [
    { name: 'spanscore-sums', interval: '1m', rules: [...short.flatMap(sums), ...interval('1h')] },
    {
      name: 'spanscore-sums-long',
      interval: '2m',
      rules: [...['1d', '3d'].flatMap(sums), ...interval('1d'), ...ACCOUNTED],
    },
    {
      name: 'spanscore-levels',
      interval: '2m',
      rules: [
        { record: 'spanscore:target_mean', expr: column(table, ({ mean }) => atBest(mean)) ?? '' },
        { record: 'spanscore:target_passed', expr: column(table, ({ passed }) => atBest(passed)) ?? '' },
        { record: 'spanscore:together', expr: column(table, ({ together }) => together) ?? '' },
        ...windows.flatMap((window) => usual(table, window)),
      ],
    },
    {
      name: 'spanscore-evidence',
      interval: '1m',
      rules: [
        ...evidences(table.falls),
        {
          record: 'spanscore:evidence:now',
          expr: [
            'max without (window, fall) (',
            `  spanscore:evidence{window=~"${prompt.join('|')}"}`,
            `  or (spanscore:evidence{window=~"${gated.join('|')}"} and (spanscore:evidence_lately > 0))`,
            ')',
          ].join('\n'),
        },
      ],
    },
    {
      name: 'spanscore-trust',
      interval: '2m',
      rules: [
        {
          record: 'spanscore:mean_worst:1d',
          expr: `spanscore:accounted:1d * clamp(${allOfDay('sum_wy')} / ${allOfDay('sum_w')}, 0, 1)`,
        },
        { record: 'spanscore:mean_best:1d', expr: 'spanscore:mean_worst:1d + 1 - spanscore:accounted:1d' },
        smallestFall(table),
        ...runsNeededRules(table),
        DISPERSION,
      ],
    },
  ]
}

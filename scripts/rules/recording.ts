import { skipReasons } from '../../src/scoring/read-verdict.ts'
import { LOST } from '../../src/sampling/weight.ts'
import {
  BEFORE,
  BEST,
  ENOUGH,
  FALLS,
  FREEZE,
  LEAST,
  LEAST_MONTHLY,
  MONTHLY,
  PAGE,
  RUNNING_FALL,
  RUNNING_SPARE,
  SETTLED,
  TICKET,
  TWELFTH,
} from './limits.ts'

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

/** The sums of a window that say how many runs passed, and the sum of positions. */
function sums(window: string): Rule[] {
  // After a restart, Prometheus goes on finding a recorded value for five minutes that the rule no longer gives. A sum that is really
  // 0 beside such a value would be a fall, so that every other sum exists only where the sum of weights is of this evaluation.
  const isNew = `(spanscore:sum_w:${window} and timestamp(spanscore:sum_w:${window}) >= time())`
  const sum = (name: string, metric: string): Rule => ({
    record: `spanscore:${name}:${window}`,
    expr: `(${increase(metric, window)} or 0 * ${isNew}) and ${isNew}`,
  })
  return [
    { record: `spanscore:sum_w:${window}`, expr: `${increase('spanscore_sum_w_total', window)} > 0` },
    sum('sum_pass', `spanscore_sum_w_total{${PASS}}`),
    sum('sum_wy', 'spanscore_sum_wy_total'),
    ...(WHOLE.has(window)
      ? [
          sum('sum_w2', 'spanscore_sum_w2_total'),
          sum('sum_w2_pass', `spanscore_sum_w2_total{${PASS}}`),
          sum('sum_w2y', 'spanscore_sum_w2y_total'),
          sum('sum_w2y2', 'spanscore_sum_w2y2_total'),
          ...effectiveRuns(window),
        ]
      : []),
  ]
}

const PASS = 'gen_ai_evaluation_score_label="pass"'

/** The windows with a mean and an interval. Of the others, only the sign of the evidence counts. */
const WHOLE: ReadonlySet<string> = new Set(['1h', ...FALLS.map(({ window }) => window)])

/** The mean of a window and the share of runs that pass, and the effective number of runs of each. */
function effectiveRuns(window: string): Rule[] {
  const of = (name: string) => `spanscore:${name}:${window}`
  return [
    { record: of('mean'), expr: `clamp(${of('sum_wy')} / ${of('sum_w')}, 0, 1)` },
    { record: of('mean_variance'), expr: variance(of('mean'), of) },
    { record: of('n'), expr: effective(of('mean'), of('mean_variance'), of) },
    { record: of('passed'), expr: `clamp_max(${of('sum_pass')} / ${of('sum_w')}, 1)` },
    { record: of('passed_n'), expr: effective(of('passed'), `(${passedVariance(of('passed'), of)})`, of) },
  ]
}

/** Wilson's bounds of the mean. */
function interval(window: string): Rule[] {
  const of = (name: string) => `spanscore:${name}:${window}`
  return [
    { record: of('mean_lower'), expr: wilson(of('mean'), of('n'), '-') },
    { record: of('mean_upper'), expr: wilson(of('mean'), of('n'), '+') },
  ]
}

type Name = (name: string) => string

const variance = (mean: string, of: Name) =>
  `clamp_min(${of('sum_w2y2')} - 2 * ${mean} * ${of('sum_w2y')} + ${mean} ^ 2 * ${of('sum_w2')}, 0) / ${of('sum_w')} ^ 2`

/** The variance of the share of runs that pass: Σw²(y - p)² / (Σw)². Calls of a run that differ count as if they did not, which is rather too much. */
const passedVariance = (share: string, of: Name) =>
  `(clamp_min(1 - ${share}, 0) ^ 2 * ${of('sum_w2_pass')} + ${share} ^ 2 * clamp_min(${of('sum_w2')} - ${of('sum_w2_pass')}, 0)) / ${of('sum_w')} ^ 2`

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

/** The numbers of the settings in which the larger one counts while processes have different ones, as in a rollout. */
const LARGER = 'runs_together|.+_severity|worst_score|best_score'

/**
 * The settings of alerts. The settings of a process that went away are kept for a day, for scorers of which no process shows any.
 * While processes differ, the lower level counts.
 */
function settings(): Rule {
  const by = `${AGENT_AND_SCORER}, spanscore_setting`
  const of = (range: (series: string) => string) => [
    `max by (${by}) (${range(`spanscore_alert_setting{spanscore_setting=~"${LARGER}"}`)})`,
    `min by (${by}) (${range(`spanscore_alert_setting{spanscore_setting!~"${LARGER}|quiet"}`)})`,
  ]
  const live = of((series) => series)
  const kept = of((series) => `last_over_time(${series}[1d])`)
  const absent = `unless on (${AGENT_AND_SCORER}) spanscore_alert_setting`
  const lines = [...live, ...kept.map((each) => `(${each} ${absent})`)]
  return { record: 'spanscore:setting', expr: named(`(\n${lines.join('\nor ')}\n)`) }
}

/** A setting, for each series of scores. */
const setting = (name: string) =>
  `(0 * spanscore:sum_w:3d + on (${AGENT_AND_SCORER}) group_left () spanscore:setting{spanscore_setting="${name}"})`

/** The sums of the two weeks that ended this long ago, and the level that was surely reached in them. */
function past(before: string): Rule[] {
  const of: Name = (name) => `spanscore:past_${name}:${before}`
  const sum = (name: string): Rule => ({
    record: of(name),
    expr: `sum_over_time(spanscore:${name}:1h[14d:1h] offset ${before})`,
  })
  const levels = (measure: Measure, gained: string, ofVariance: (mean: string) => string): Rule[] => {
    const [mean, n] = [of(measure), of(`${measure}_n`)]
    const reached = `clamp_max(${surely(mean, `(${n} / spanscore:together)`)}, ${BEST})`
    return [
      { record: mean, expr: `clamp(${of(gained)} / ${of('sum_w')}, 0, 1)` },
      { record: n, expr: effective(mean, `(${ofVariance(mean)})`, of) },
      { record: of(`${measure}_surely`), expr: `${reached} and ${n} / spanscore:together >= ${ENOUGH}` },
    ]
  }
  return [
    ...['sum_w', 'sum_pass', 'sum_wy', 'sum_w2', 'sum_w2_pass', 'sum_w2y', 'sum_w2y2'].map(sum),
    ...levels('mean', 'sum_wy', (mean) => variance(mean, of)),
    ...levels('passed', 'sum_pass', (share) => passedVariance(share, of)),
  ]
}

/**
 * What is usual: the surely reached level of two weeks that ended a week ago, in an agent's first weeks an hour ago; learnt only while
 * nothing speaks against it. If one measure is set by hand, the other is not learnt: learnt from days without a season, it would page for the
 * season.
 */
function usual(measure: Measure): Rule {
  const record = `spanscore:usual_${measure}`
  const [settled, first] = BEFORE.map((before) => `spanscore:past_${measure}_surely:${before}`)
  const weights = BEFORE.map((before) => `spanscore:past_sum_w:${before}`)
  const learnt = `(${settled} and ${weights[0]} >= ${SETTLED} * ${weights[1]}) or ${first}`
  const worse = `max by (${SERIES}) (spanscore:evidence{kind="usual"}) > ${FREEZE}`
  const learning = `((${learnt}) unless (${worse}))\nor (last_over_time(${record}[1h]) and (${worse}))`
  const isSet = `on (${AGENT_AND_SCORER}) spanscore:setting{spanscore_setting=~"usual_.+"}`
  return { record, expr: `clamp_max(${setting(`usual_${measure}`)}, ${BEST})\nor ((${learning}) unless ${isSet})` }
}

const KINDS = ['target', 'usual'] as const
const MEASURES = ['mean', 'passed'] as const
type Measure = (typeof MEASURES)[number]

/** What is weighed against the level: sums of a window, or of the last minute. */
interface Weighed {
  readonly total: string
  readonly gained: Readonly<Record<Measure, string>>
}

const sumsOf = (window: string): Weighed => ({
  total: `spanscore:sum_w:${window}`,
  gained: { mean: `spanscore:sum_wy:${window}`, passed: `spanscore:sum_pass:${window}` },
})

/** How much better a fall explains sums than the good level does, if each unit of weight were a run. */
function explained(good: string, measure: Measure, fall: number, { total, gained }: Weighed): string {
  const fallen = `(${good} - ${fall} >= ${LEAST})`
  return [
    `(`,
    `  clamp_min(${total} - ${gained[measure]}, 0) * ln((1 - ${fallen}) / (1 - ${good}))`,
    `  + ${gained[measure]} * ln(${fallen} / ${good})`,
    `)`,
  ].join('\n')
}

/** Evidence of windows, for falls that take many runs. */
function evidences(): Rule[] {
  return pairs(({ kind, measure, good }) =>
    FALLS.flatMap(({ window, fall }) => {
      const labels = { kind, measure, window, fall: String(fall) }
      const whole = `${explained(good, measure, fall, sumsOf(window))} * ${perWeight(measure, window)}`
      const lately = explained(good, measure, fall, sumsOf(TWELFTH[window]))
      return [
        { record: 'spanscore:evidence', expr: whole, labels },
        { record: 'spanscore:evidence_lately', expr: lately, labels },
      ]
    }),
  )
}

/** How many independent runs a unit of weight counts as. */
const perWeight = (measure: Measure, window: string) =>
  `spanscore:${measure === 'mean' ? 'n' : 'passed_n'}:${window} / spanscore:sum_w:${window} / spanscore:together`

/** Everything that scores are compared with. */
const pairs = (rules: (pair: { kind: string; measure: Measure; good: string }) => Rule[]): Rule[] =>
  KINDS.flatMap((kind) => MEASURES.flatMap((measure) => rules({ kind, measure, good: `spanscore:${kind}_${measure}` })))

/**
 * What the last minute added to the counters: the difference of two values, and no `increase`, so that each run is in one minute alone. After a
 * gap of over five minutes, what came in it is left out.
 */
const added = (name: string, metric: string): Rule => ({
  record: `spanscore:added_${name}`,
  expr: named(`sum by (${SERIES}) (clamp_min(${metric} - ${metric} offset 1m, 0))`),
})

const ADDED: Weighed = {
  total: 'spanscore:added_w',
  gained: { mean: 'spanscore:added_wy', passed: 'spanscore:added_pass' },
}

/**
 * Running evidence: a cumulative sum (CUSUM) of what each minute's runs say for a fall, never below 0. It was last 0 when the fall began. It goes on
 * after a restart of Prometheus, and after a night without runs.
 */
function running(): Rule[] {
  return [
    added('w', 'spanscore_sum_w_total'),
    added('pass', `spanscore_sum_w_total{${PASS}}`),
    added('wy', 'spanscore_sum_wy_total'),
    {
      record: 'spanscore:busy',
      expr: `ln(clamp_min(10 * ${kish((name) => `spanscore:${name}:3d`)} / spanscore:together, ${LEAST_MONTHLY}) / ${MONTHLY})`,
    },
    ...pairs(({ kind, measure, good }) => {
      const labels = { kind, measure }
      const before = `max by (${SERIES}) (last_over_time(spanscore:running{kind="${kind}",measure="${measure}"}[2d]))`
      const most = `(spanscore:busy + ${PAGE + RUNNING_SPARE})`
      const kept = `(${before} < ${most} or (${most} and ${before}) or 0 * spanscore:added_w)`
      const gained = `${explained(good, measure, RUNNING_FALL, ADDED)} * ${perWeight(measure, '3d')}`
      return [{ record: 'spanscore:running', expr: `clamp_min(${kept} + ${gained}, 0)`, labels }]
    }),
    {
      record: 'spanscore:evidence',
      expr: `spanscore:running - on (${SERIES}) group_left () spanscore:busy`,
      labels: { window: 'running', fall: String(RUNNING_FALL) },
    },
  ]
}

/** When there was last nothing that spoke for a fall: the minute before its first failing run. Until then, when it was first looked for. */
const GOOD_AT: Rule = {
  record: 'spanscore:good_at',
  expr: [
    'timestamp(label_replace(spanscore:running == 0, "window", "running", "", "") or (max without (fall) (spanscore:evidence{window!="running"}) <= 0))',
    `or max by (${SERIES}, kind, measure, window) (last_over_time(spanscore:good_at[2d]))`,
    'or timestamp(max without (fall) (spanscore:evidence))',
  ].join('\n'),
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

/** Days until a fall that running evidence looks for would page, with as many runs a day as in the last one. */
function daysToPage(): Rule {
  const good = '(spanscore:usual_passed or spanscore:target_passed)'
  const fallen = `(${good} - ${RUNNING_FALL} >= ${LEAST})`
  const nats = `((1 - ${fallen}) * ln((1 - ${fallen}) / (1 - ${good})) + ${fallen} * ln(${fallen} / ${good}))`
  const runs = `(${kish((name) => `spanscore:${name}:1d`)} / spanscore:together)`
  return { record: 'spanscore:days_to_page', expr: `(${PAGE} + spanscore:busy) / ${nats} / ${runs}` }
}

const chosen = (matcher: string) =>
  named(`sum by (${AGENT_AND_SCORER}) (increase(spanscore_chosen_w_total${matcher}[1d]))`)

const lostReasons: ReadonlySet<string> = LOST

/** Reasons for which a run is left out without having been chosen. */
export const NOT_CHOSEN: string = Object.keys(skipReasons)
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

const traitName = (of: string) => `spanscore:trait_${of}:1h`

/** A term of G. */
const term = (count: string, share: string, among: string) => `${count} * ln(clamp_min(${share}, 1e-9) / ${among})`

/**
 * What failing runs have in common, of the traits that metrics have, for scorers that fell: G of a 2×2 table of failing and having the trait, in
 * nats, on the effective number of runs. Every run has one `status`, so its sums are those of all runs.
 */
function traits(): Rule[] {
  const by = `${AGENT_AND_SCORER}, spanscore_trait, spanscore_trait_value`
  const increased = (matcher: string) =>
    `${named(`sum by (${by}) (increase(spanscore_traits_total{${matcher}}[1h]))`)}\nand on (${AGENT_AND_SCORER}) (spanscore:evidence:now > ${TICKET})`
  const all = (of: string) => `sum by (${AGENT_AND_SCORER}) (${traitName(of)}{spanscore_trait="status"})`
  const joined = (one: string, operator: string, of: string) =>
    `${one} ${operator} on (${AGENT_AND_SCORER}) group_left () (${of})`
  const [fail, runs, whole] = [traitName('fail'), traitName('runs'), traitName('level')]
  const [failOthers, others] = [traitName('others_fail'), traitName('others')]
  const ofWeight = `sum by (${AGENT_AND_SCORER}) (spanscore:sum_w:1h) / sum by (${AGENT_AND_SCORER}) (spanscore:sum_w2:1h)`
  const g = [
    term(fail, `(${fail} / ${runs})`, whole),
    term(`(${runs} - ${fail})`, `(1 - ${fail} / ${runs})`, `(1 - ${whole})`),
    term(failOthers, `(${failOthers} / ${others})`, whole),
    term(`(${others} - ${failOthers})`, `(1 - ${failOthers} / ${others})`, `(1 - ${whole})`),
  ].join('\n  + ')
  return [
    { record: traitName('runs'), expr: `(${increased('spanscore_trait_value!="other"')}) > 0` },
    {
      record: traitName('fail'),
      expr: `clamp_min(${increased('gen_ai_evaluation_score_label="fail", spanscore_trait_value!="other"')}, 0)`,
    },
    { record: traitName('others'), expr: `(${joined(`-1 * ${runs}`, '+', all('runs'))}) > 0` },
    { record: traitName('others_fail'), expr: `clamp_min(${joined(`-1 * ${fail}`, '+', all('fail'))}, 0)` },
    {
      record: traitName('level'),
      expr: `clamp(${joined(`0 * ${runs}`, '+', `${all('fail')} / ${all('runs')}`)}, 1e-9, 1 - 1e-9)`,
    },
    {
      record: traitName('evidence'),
      expr: `${joined(`(\n  ${g}\n)`, '*', ofWeight)}\nand ${fail} / ${runs} > ${failOthers} / ${others}`,
    },
  ]
}

/**
 * The recording rules.
 *
 * @param alertsOnScores alerts that end the group of the evidence which they read: in a group of their own they might wait a minute for it
 */
export function recordingGroups(alertsOnScores: readonly Rule[] = []): RuleGroup[] {
  return [
    { name: 'spanscore-sums', interval: '1m', rules: [...['30m', '1h', '2h', '6h'].flatMap(sums), ...interval('1h')] },
    { name: 'spanscore-sums-long', interval: '2m', rules: [...['1d', '3d'].flatMap(sums), ...ACCOUNTED] },
    {
      name: 'spanscore-levels',
      interval: '2m',
      rules: [
        settings(),
        { record: 'spanscore:target_mean', expr: `clamp_max(${setting('target_mean')}, ${BEST})` },
        { record: 'spanscore:target_passed', expr: `clamp_max(${setting('target_passed')}, ${BEST})` },
        { record: 'spanscore:together', expr: `${setting('runs_together')}\nor 0 * spanscore:sum_w:3d + 1` },
        ...BEFORE.flatMap(past),
        ...MEASURES.map(usual),
      ],
    },
    {
      // Running evidence adds what came since the last evaluation: the interval is the offset of `added`.
      name: 'spanscore-evidence',
      interval: '1m',
      rules: [
        ...running(),
        ...evidences(),
        {
          record: 'spanscore:evidence:now',
          expr: [
            'spanscore:evidence{window="running"}',
            'or (spanscore:evidence{window!="running"} and (spanscore:evidence_lately > 0))',
          ].join('\n'),
        },
        GOOD_AT,
        ...traits(),
        ...alertsOnScores,
      ],
    },
    { name: 'spanscore-trust', interval: '2m', rules: [DISPERSION, daysToPage()] },
  ]
}

import { skipReasons } from '../../src/scoring/read-verdict.ts'
import { LOST } from '../../src/sampling/weight.ts'
import { BEST, ENOUGH, FALLS, FREEZE, LEAST, TICKET, TWELFTH } from './limits.ts'

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
    ...(HAS_EVIDENCE.has(window)
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

/** The windows in which falls are looked for, the shortest first. */
const WINDOWS = [...new Set(FALLS.map(({ window }) => window))]

/** In the others, only the sign of the evidence counts. */
const HAS_EVIDENCE: ReadonlySet<string> = new Set(WINDOWS)

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
    `min by (${by}) (${range(`spanscore_alert_setting{spanscore_setting!~"${LARGER}"}`)})`,
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

/**
 * What is usual: the surely reached level of the 14 days before the window, learnt only while nothing speaks against it. If one measure is
 * set by hand, the other is not learnt: learnt from days without a season, it would page for the season.
 */
function usual(window: string): Rule[] {
  const past: Name = (name) => `spanscore:past_${name}:${window}`
  const sum = (name: string): Rule => ({
    record: past(name),
    expr: `sum_over_time(spanscore:${name}:1h[14d:1h] offset ${window})`,
  })
  const learn = (measure: 'mean' | 'passed', learnt: string): Rule => {
    const record = `spanscore:usual_${measure}:${window}`
    const worse = `max by (${SERIES}) (spanscore:evidence{kind="usual"}) > ${FREEZE}`
    const learning = `(${learnt} and ${kish(past)} / spanscore:together >= ${ENOUGH}) unless (${worse})\nor (last_over_time(${record}[1h]) and (${worse}))`
    const isSet = `on (${AGENT_AND_SCORER}) spanscore:setting{spanscore_setting=~"usual_.+"}`
    return { record, expr: `clamp_max(${setting(`usual_${measure}`)}, ${BEST})\nor ((${learning}) unless ${isSet})` }
  }
  return [
    ...['sum_w', 'sum_pass', 'sum_wy', 'sum_w2', 'sum_w2_pass', 'sum_w2y', 'sum_w2y2'].map(sum),
    { record: past('mean'), expr: `clamp(${past('sum_wy')} / ${past('sum_w')}, 0, 1)` },
    { record: past('n'), expr: effective(past('mean'), `(${variance(past('mean'), past)})`, past) },
    learn('mean', `clamp_max(${surely(past('mean'), `(${past('n')} / spanscore:together)`)}, ${BEST})`),
    { record: past('passed'), expr: `clamp_max(${past('sum_pass')} / ${past('sum_w')}, 1)` },
    { record: past('passed_n'), expr: effective(past('passed'), `(${passedVariance(past('passed'), past)})`, past) },
    learn('passed', `clamp_max(${surely(past('passed'), `(${past('passed_n')} / spanscore:together)`)}, ${BEST})`),
  ]
}

const KINDS = ['target', 'usual'] as const
const MEASURES = ['mean', 'passed'] as const
type Measure = (typeof MEASURES)[number]

/** The level that scores are compared with. */
const level = (kind: (typeof KINDS)[number], measure: string, window: string) =>
  kind === 'target' ? `spanscore:target_${measure}` : `spanscore:usual_${measure}:${window}`

/** How much better a fall explains the sums of a window than the good level does, if each unit of weight were a run. */
function explained(good: string, measure: Measure, fall: number, window: string): string {
  const total = `spanscore:sum_w:${window}`
  const gained = measure === 'mean' ? `spanscore:sum_wy:${window}` : `spanscore:sum_pass:${window}`
  const fallen = `(${good} - ${fall} >= ${LEAST})`
  return [
    `(`,
    `  clamp_min(${total} - ${gained}, 0) * ln((1 - ${fallen}) / (1 - ${good}))`,
    `  + ${gained} * ln(${fallen} / ${good})`,
    `)`,
  ].join('\n')
}

function evidences(): Rule[] {
  return KINDS.flatMap((kind) =>
    MEASURES.flatMap((measure) =>
      FALLS.flatMap(({ window, fall }) => {
        const good = level(kind, measure, window)
        const labels = { kind, measure, window, fall: String(fall) }
        const twelfth = TWELFTH[window]
        const n = `spanscore:${measure === 'mean' ? 'n' : 'passed_n'}:${window}`
        const whole: Rule = {
          record: 'spanscore:evidence',
          expr: `${explained(good, measure, fall, window)} * ${n} / spanscore:sum_w:${window} / spanscore:together`,
          labels,
        }
        if (twelfth === undefined) return [whole]
        return [whole, { record: 'spanscore:evidence_lately', expr: explained(good, measure, fall, twelfth), labels }]
      }),
    ),
  )
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

/** Takes a value of each window, and labels it with the window. */
const perWindow = (of: (window: string) => string) =>
  WINDOWS.map((window) => `label_replace(${of(window)}, "window", "${window}", "", "")`).join('\nor ')

/** Takes a value of each measure and window, and labels it with both. */
const measures = (of: (measure: Measure, window: string) => string) =>
  MEASURES.map(
    (measure) => `label_replace(${perWindow((window) => of(measure, window))}, "measure", "${measure}", "", "")`,
  ).join('\nor ')

const fell = (window: string) => `max without (fall) (spanscore:evidence:now{window="${window}"}) > ${TICKET}`

/**
 * What the messages of alerts say. Of the windows in which there is evidence, the shortest one shows best how bad it is now. These rules
 * have no values as long as there is no fall.
 */
function message(): Rule[] {
  const shortest = WINDOWS.map(fell).join('\nor ignoring (window) ')
  const fallen = (expression: string) => `(${expression})\nand on (${SERIES}, measure, window) spanscore:fell`
  const gained = { mean: 'sum_wy', passed: 'sum_pass' }
  const share = measures(
    (measure, window) => `clamp(spanscore:${gained[measure]}:${window} / spanscore:sum_w:${window}, 0, 1)`,
  )
  const runs = measures((_, window) => `spanscore:sum_w:${window} ^ 2 / spanscore:sum_w2:${window}`)
  const good = KINDS.map((kind) => {
    const levels = measures((measure, window) => `${level(kind, measure, window)} and spanscore:sum_w:${window}`)
    return `label_replace(${levels}, "kind", "${kind}", "", "")`
  })
  const independent = `(spanscore:fell_runs / on (${SERIES}) group_left () spanscore:together)`
  const bound = (sign: '+' | '-') => `clamp(${wilson('spanscore:fell_share', independent, sign)}, 0, 1)`
  const shown = {
    now: 'spanscore:fell_share',
    lower: bound('-'),
    upper: bound('+'),
    good: 'spanscore:fell_good',
  }
  return [
    { record: 'spanscore:fell', expr: shortest },
    { record: 'spanscore:fell_share', expr: fallen(share) },
    { record: 'spanscore:fell_runs', expr: fallen(runs) },
    { record: 'spanscore:fell_good', expr: `(\n${good.join('\nor ')}\n)\nand spanscore:fell` },
    ...Object.entries(shown).map(([of, expr]) => ({
      record: 'spanscore:fell_level',
      expr: inOwnUnits(expr),
      labels: { of },
    })),
  ]
}

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
    `${named(`sum by (${by}) (increase(spanscore_traits_total{${matcher}}[1h]))`)}\nand on (${AGENT_AND_SCORER}) spanscore:fell`
  const all = (of: string) => `sum by (${AGENT_AND_SCORER}) (${traitName(of)}{spanscore_trait="status"})`
  const joined = (one: string, operator: string, of: string) =>
    `${one} ${operator} on (${AGENT_AND_SCORER}) group_left () (${of})`
  const [fail, runs, whole] = [traitName('fail'), traitName('runs'), traitName('level')]
  const [failOthers, others] = [traitName('others_fail'), traitName('others')]
  const perWeight = `sum by (${AGENT_AND_SCORER}) (spanscore:sum_w:1h) / sum by (${AGENT_AND_SCORER}) (spanscore:sum_w2:1h)`
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
      expr: `${joined(`(\n  ${g}\n)`, '*', perWeight)}\nand ${fail} / ${runs} > ${failOthers} / ${others}`,
    },
    { record: traitName('rate'), expr: `100 * ${fail} / ${runs}`, labels: { of: 'with' } },
    { record: traitName('rate'), expr: `100 * ${failOthers} / ${others}`, labels: { of: 'without' } },
  ]
}

const settingOf = (name: string) => `spanscore:setting{spanscore_setting="${name}"}`

/** A share of runs as a percentage; a mean in the scorer's own units, or as a position if its range is not known. */
function inOwnUnits(expression: string): string {
  const mean = `(${expression} and on (measure) label_replace(vector(1), "measure", "mean", "", ""))`
  const width = `(${settingOf('best_score')} - ignoring (spanscore_setting) ${settingOf('worst_score')})`
  const join = `on (${AGENT_AND_SCORER}) group_left ()`
  return [
    `${mean} * ${join} ${width} + ${join} ${settingOf('worst_score')}`,
    `or ${mean}`,
    `or 100 * ${expression}`,
  ].join('\n')
}

/**
 * The recording rules.
 *
 * @param alertsOnScores alerts that end the group of the evidence which they read: in a group of their own they might wait a minute for it
 */
export function recordingGroups(alertsOnScores: readonly Rule[] = []): RuleGroup[] {
  const short = ['15m', '30m', '1h', '2h', '6h']
  const gated = WINDOWS.filter((window) => TWELFTH[window] !== undefined)
  const prompt = WINDOWS.filter((window) => TWELFTH[window] === undefined)
  return [
    { name: 'spanscore-sums', interval: '1m', rules: [...short.flatMap(sums), ...interval('1h')] },
    {
      name: 'spanscore-sums-long',
      interval: '2m',
      rules: [...['14h', '1d', '3d', '7d'].flatMap(sums), ...ACCOUNTED],
    },
    {
      name: 'spanscore-levels',
      interval: '2m',
      rules: [
        settings(),
        { record: 'spanscore:target_mean', expr: `clamp_max(${setting('target_mean')}, ${BEST})` },
        { record: 'spanscore:target_passed', expr: `clamp_max(${setting('target_passed')}, ${BEST})` },
        { record: 'spanscore:together', expr: `${setting('runs_together')}\nor 0 * spanscore:sum_w:3d + 1` },
        ...WINDOWS.flatMap(usual),
      ],
    },
    {
      name: 'spanscore-evidence',
      interval: '1m',
      rules: [
        ...evidences(),
        {
          record: 'spanscore:evidence:now',
          expr: [
            `spanscore:evidence{window=~"${prompt.join('|')}"}`,
            `or (spanscore:evidence{window=~"${gated.join('|')}"} and (spanscore:evidence_lately > 0))`,
          ].join('\n'),
        },
        ...message(),
        ...traits(),
        ...alertsOnScores,
      ],
    },
    {
      name: 'spanscore-trust',
      interval: '2m',
      rules: [DISPERSION],
    },
  ]
}

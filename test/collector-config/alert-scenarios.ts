import { stringify } from 'yaml'

import { ruleGroups, rulesFile } from '../../scripts/rules/main.ts'

/** Some minutes of traffic of one scorer of one agent. */
export interface Phase {
  readonly minutes: number
  /** Runs that are scored each minute; fractions are allowed, as they are in a counter of weights. */
  readonly scored: number
  /** The share of them that passes with 1; the others fail with 0. @default 1 */
  readonly passes?: number
  /** How many runs each of them represents. @default 1 */
  readonly weight?: number
  /** Weights of runs that were chosen and not scored, each minute. @default 0 */
  readonly lost?: number
}

/** A series of promtool. */
export interface Series {
  readonly series: string
  readonly values: string
}

/** What is expected of an alert at a time. */
export interface Expectation {
  readonly at: string
  readonly alert: string
  /** How many instances of the alert fire. */
  readonly firing: number
}

const LABELS = {
  job: 'shop',
  gen_ai_agent_name: 'support',
  gen_ai_evaluation_name: 'prompt_alignment',
  spanscore_scorer_version: '1a2b3c4d',
  spanscore_judge_model: 'judge-1',
}

/** Labels that differ from the usual ones; an empty one is left out. */
export type SomeLabels = Partial<typeof LABELS>

function named(metric: string, labels: Readonly<Record<string, string>>): string {
  const text = Object.entries(labels).filter(([, value]) => value !== '')
  return `${metric}{${text.map(([name, value]) => `${name}="${value}"`).join(', ')}}`
}

/** A counter that starts at 0 and grows by this amount each minute; `undefined` if it is not sampled. */
export function counter(
  metric: string,
  labels: Readonly<Record<string, string>>,
  growth: readonly (number | undefined)[],
): Series {
  let value = 0
  const values = growth.map((step) => {
    if (step === undefined) return '_'
    value += step
    return String(Number(value.toFixed(6)))
  })
  return { series: named(metric, labels), values: ['0', ...values].join(' ') }
}

const eachMinute = (phases: readonly Phase[], of: (phase: Phase) => number) =>
  phases.flatMap((phase) => Array.from({ length: phase.minutes }, () => of(phase)))

/** All counters that spanscore keeps of such traffic. @param level Unless it is that of runs. */
export function traffic(phases: readonly Phase[], labels: SomeLabels = {}, level = ''): Series[] {
  const all = { ...LABELS, ...labels }
  const { job, gen_ai_agent_name, gen_ai_evaluation_name } = all
  const base = { job, gen_ai_agent_name, gen_ai_evaluation_name }
  const w = ({ scored, weight = 1 }: Phase) => scored * weight
  const good = (phase: Phase) => w(phase) * (phase.passes ?? 1)
  const ofW = (label: string) => ({ ...all, gen_ai_evaluation_score_label: label })
  const squared = ({ weight = 1 }: Phase) => weight
  const sum = (name: string, of: (phase: Phase) => number) =>
    counter(`spanscore_sum_${name}_total`, all, eachMinute(phases, of))
  return [
    counter('spanscore_sum_w_total', ofW('pass'), eachMinute(phases, good)),
    counter(
      'spanscore_sum_w_total',
      ofW('fail'),
      eachMinute(phases, (phase) => w(phase) - good(phase)),
    ),
    sum('wy', good),
    counter(
      'spanscore_sum_w2_total',
      ofW('pass'),
      eachMinute(phases, (phase) => good(phase) * squared(phase)),
    ),
    counter(
      'spanscore_sum_w2_total',
      ofW('fail'),
      eachMinute(phases, (phase) => (w(phase) - good(phase)) * squared(phase)),
    ),
    sum('w2y', (phase) => good(phase) * squared(phase)),
    sum('w2y2', (phase) => good(phase) * squared(phase)),
    counter('spanscore_chosen_w_total', { ...base, spanscore_outcome: 'scored' }, eachMinute(phases, w)),
    counter(
      'spanscore_chosen_w_total',
      { ...base, spanscore_outcome: 'lost' },
      eachMinute(phases, ({ lost = 0 }) => lost),
    ),
    counter(
      'spanscore_evaluations_total',
      { ...base, spanscore_level: level, spanscore_outcome: 'scored' },
      eachMinute(phases, ({ scored }) => scored),
    ),
  ]
}

/** Settings of a scorer's alerts, as an application exports them: two targets of 0.7 and 0.8, and pages. */
export const PAGES = { target_mean: 0.7, target_passed: 0.8, target_severity: 2, drop_severity: 2, runs_together: 1 }

/** The gauge of alert settings, for so many minutes. */
export function settings(
  values: Readonly<Record<string, number>>,
  labels: SomeLabels = {},
  minutes = 2000,
  more: Readonly<Record<string, string>> = {},
): Series[] {
  const { job, gen_ai_agent_name, gen_ai_evaluation_name } = { ...LABELS, ...labels }
  const of = { job, gen_ai_agent_name, gen_ai_evaluation_name, ...more }
  return Object.entries(values).map(([name, value]) => ({
    series: named('spanscore_alert_setting', { ...of, spanscore_setting: name }),
    values: `${value}x${minutes}`,
  }))
}

type Ended = readonly (readonly [minutes: number, count: number])[]

const ended = (metric: string, phases: Ended): Series =>
  counter(
    metric,
    { job: LABELS.job, gen_ai_agent_name: LABELS.gen_ai_agent_name, spanscore_outcome: 'closed' },
    phases.flatMap(([minutes, count]) => Array.from({ length: minutes }, () => count)),
  )

/** Runs that ended, each minute. */
export const runs = (phases: Ended): Series => ended('spanscore_runs_total', phases)

/** Conversations that ended, each minute. */
export const conversations = (phases: Ended): Series => ended('spanscore_conversations_total', phases)

/** A test of promtool. */
export function scenario(name: string, series: readonly Series[], expected: readonly Expectation[]): object {
  return {
    name,
    interval: '1m',
    input_series: series,
    promql_expr_test: expected.map(({ at, alert, firing }) => ({
      expr: `count(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`,
      eval_time: at,
      exp_samples: [{ labels: '{}', value: firing }],
    })),
  }
}

/**
 * The file of tests for the shipped rules.
 *
 * @param everyMinutes how often rules are evaluated: 1 as in Prometheus, for running evidence; at most 4, because Prometheus finds a recorded
 * value for less than five minutes
 */
export const testFile = (tests: readonly object[], everyMinutes: number): string =>
  stringify({
    rule_files: [rulesFile],
    evaluation_interval: `${everyMinutes}m`,
    group_eval_order: ruleGroups().map(({ name }) => name),
    tests,
  })

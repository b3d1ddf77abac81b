/**
 * A day of a series, with restarts and gaps, as promtool takes them and as the evaluator sees them; so that both can be
 * asked the same.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'

import { rulesFile } from '../rules/main.ts'
import { recordingGroups } from '../rules/recording.ts'
import { COUNTER_NAMES, Counters } from './counters.ts'
import type { CounterName, Values } from './counters.ts'
import { Evaluator } from './evaluator.ts'
import type { Levels } from './evaluator.ts'
import { createRandom, poisson } from './random.ts'

/** Minutes of a day. */
export const MINUTES = 24 * 60

const METRIC: Readonly<Record<CounterName, string>> = {
  pass: 'spanscore_sum_w_total',
  fail: 'spanscore_sum_w_total',
  wy: 'spanscore_sum_wy_total',
  w2pass: 'spanscore_sum_w2_total',
  w2fail: 'spanscore_sum_w2_total',
  w2y: 'spanscore_sum_w2y_total',
  w2y2: 'spanscore_sum_w2y2_total',
}

/** A series of scores: its labels, and its counters. */
export interface Recorded {
  readonly labels: Readonly<Record<string, string>>
  readonly counters: Counters
  /** By counter, the values of each minute in the notation of promtool tests; `_` if there is no sample. */
  readonly values: Readonly<Record<CounterName, readonly string[]>>
}

/** Scores between 0 and 1 with weights of 1 and 20; a restart about every seven hours, and gaps of some minutes. */
export function record(seed: number, labels: Readonly<Record<string, string>>): Recorded {
  const random = createRandom(seed)
  const counters = new Counters(MINUTES + 1)
  const values: Record<CounterName, string[]> = {
    pass: [],
    fail: [],
    wy: [],
    w2pass: [],
    w2fail: [],
    w2y: [],
    w2y2: [],
  }
  const now = { pass: 0, fail: 0, wy: 0, w2pass: 0, w2fail: 0, w2y: 0, w2y2: 0 }
  let gap = 0
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    if (random() < 1 / 400) for (const name of COUNTER_NAMES) now[name] = 0
    const good = minute > MINUTES * 0.7 ? 0.6 : 0.92
    for (let runs = poisson(0.8, random); runs > 0; runs -= 1) {
      const w = random() < 0.3 ? 20 : 1
      const passes = random() < good
      const y = Math.round((passes ? 0.7 + 0.3 * random() : 0.6 * random()) * 100) / 100
      now[passes ? 'pass' : 'fail'] += w
      now.wy += w * y
      now[passes ? 'w2pass' : 'w2fail'] += w * w
      now.w2y += w * w * y
      now.w2y2 += w * w * y * y
    }
    if (gap === 0 && random() < 1 / 300) gap = 1 + Math.floor(random() * 12)
    const isMissing = gap > 0
    gap = Math.max(0, gap - 1)
    const sample: Values = { ...now }
    counters.sample(isMissing ? undefined : sample)
    for (const name of COUNTER_NAMES) values[name].push(isMissing ? '_' : String(sample[name]))
  }
  return { labels, counters, values }
}

/** The series as the input of a promtool test. */
export function inputSeries({ labels, values }: Recorded): { series: string; values: string }[] {
  const text = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
  return COUNTER_NAMES.map((name) => {
    const [of] = /pass|fail/.exec(name) ?? []
    const label = of === undefined ? [] : [`gen_ai_evaluation_score_label="${of}"`]
    return { series: `${METRIC[name]}{${[...text, ...label].join(', ')}}`, values: values[name].join(' ') }
  })
}

/** The levels as the gauge that an application exports. */
function settingSeries(labels: Readonly<Record<string, string>>, levels: Levels): { series: string; values: string }[] {
  const { mean, passed, usual, together } = levels
  const settings = {
    target_mean: mean,
    target_passed: passed,
    usual_mean: usual?.mean,
    usual_passed: usual?.passed,
    runs_together: together,
  }
  const { job, gen_ai_agent_name: agent, gen_ai_evaluation_name: scorer } = labels
  const of = `job="${job}", gen_ai_agent_name="${agent}", gen_ai_evaluation_name="${scorer}"`
  return Object.entries(settings).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [{ series: `spanscore_alert_setting{${of}, spanscore_setting="${name}"}`, values: `${value}x${MINUTES}` }],
  )
}

/**
 * Evaluates the same counters by promtool and by the evaluator, and returns the largest relative difference of `spanscore:evidence`.
 *
 * @param levels The levels that scores are compared with, as the application sets them.
 */
export function compareWithPromtool(
  promtool: string,
  minutes: number,
  levels: Levels,
): { compared: number; worst: number } {
  const labels = {
    job: 'shop',
    gen_ai_agent_name: 'support',
    gen_ai_evaluation_name: 'prompt_alignment',
    spanscore_scorer_version: '1a2b3c4d',
    spanscore_judge_model: 'judge-1',
  }
  const recorded = record(7, labels)
  const evaluator = new Evaluator(levels, recorded.counters, MINUTES + 1)
  const asked: number[] = []
  const expected = new Map<string, number>()
  for (let minute = 0; minute <= minutes; minute += 1) {
    const isAsked = minute % 60 === 32
    const { evidence } = evaluator.at(minute, isAsked)
    if (!isAsked) continue
    asked.push(minute)
    for (const [line, value] of evidence) expected.set(`${minute} ${line}`, value)
  }
  const answered = askPromtool(promtool, [...inputSeries(recorded), ...settingSeries(labels, levels)], asked)
  let worst = answered.size === expected.size ? 0 : Number.POSITIVE_INFINITY
  for (const [key, value] of expected) {
    const other = answered.get(key) ?? Number.NaN
    const difference = Math.abs(other - value) / Math.max(1e-3, Math.abs(value))
    worst = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : Math.max(worst, difference)
  }
  return { compared: expected.size, worst }
}

/** promtool prints the values if a test expects none. */
function askPromtool(promtool: string, series: readonly object[], minutes: readonly number[]): Map<string, number> {
  const directory = mkdtempSync(join(tmpdir(), 'spanscore-agreement-'))
  const file = join(directory, 'test.yml')
  const test = {
    interval: '1m',
    input_series: series,
    promql_expr_test: minutes.map((minute) => ({
      expr: 'spanscore:evidence',
      eval_time: `${minute}m`,
      exp_samples: [],
    })),
  }
  const order = recordingGroups().map(({ name }) => name)
  writeFileSync(
    file,
    stringify({ rule_files: [rulesFile], evaluation_interval: '1m', group_eval_order: order, tests: [test] }),
  )
  const { stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  rmSync(directory, { recursive: true })
  const answered = new Map<string, number>()
  const blocks = `${stdout}${stderr}`.matchAll(/time: ([\ddhms.]+),\s+exp: nil\s+got: (.*)/g)
  for (const [, time = '', got = ''] of blocks) {
    const minute = minutesOf(time)
    for (const [, text = '', value = ''] of got.matchAll(/\{([^}]*)\} ([-+\d.eE]+)/g)) {
      const label = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1]
      const line = `${label('kind')} ${label('measure')} ${label('window')} ${label('fall')}`
      answered.set(`${minute} ${line}`, Number(value))
    }
  }
  return answered
}

/** Of `1h30m` or `2d4h`, as promtool writes it. */
function minutesOf(time: string): number {
  const [, days = '0', hours = '0', minutes = '0'] = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?/.exec(time) ?? []
  return Number(days) * 1440 + Number(hours) * 60 + Number(minutes)
}

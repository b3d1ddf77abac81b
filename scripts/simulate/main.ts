/**
 * What the shipped rules do in months of simulated traffic: `npm run simulate`. First the evaluator is held against promtool, on
 * three days with restarts and gaps; then false pages and tickets of fleets whose truth is known, and the time until a fall is
 * found. Exits with 1 where a bound is missed.
 */
import { findProgram } from '../e2e-tools.ts'
import { readTable } from '../rules/table.ts'
import { compareWithPromtool, MINUTES } from './agreement.ts'
import type { Levels } from './evaluator.ts'
import { simulate } from './month.ts'
import type { Traffic } from './month.ts'

const DAY = 24 * 60
const MONTH = 30 * DAY
const SERIES = 50

const table = readTable()
const startMs = performance.now()
let isMissed = false

function say(line: string): void {
  console.log(line)
}

function check(isMet: boolean, what: string): void {
  if (isMet) return
  isMissed = true
  say(`  missed: ${what}`)
}

const promtool = findProgram('promtool')
if (promtool === undefined)
  say('promtool is not there: the evaluator is not compared with it (npm run test:e2e gets it)')
else {
  const { compared, worst } = compareWithPromtool(promtool, MINUTES)
  say(
    `evaluator and promtool: ${compared} values of evidence over three days, largest relative difference ${worst.toExponential(1)}`,
  )
  check(worst < 1e-9, 'nine digits')
}

interface Setting {
  readonly name: string
  readonly traffic: (p: number) => Pick<Traffic, 'passes' | 'conversation'>
  readonly levels: (p: number) => Levels
}

const at = (p: number): Levels => ({ mean: p, passed: p, together: 1 })
const season = (p: number) => (minute: number) => p + 0.03 + 0.03 * Math.sin((2 * Math.PI * minute) / DAY)

const settings: readonly Setting[] = [
  { name: 'truth at the target', traffic: (p) => ({ passes: () => p, conversation: 1 }), levels: at },
  { name: '.03 above the target', traffic: (p) => ({ passes: () => p + 0.03, conversation: 1 }), levels: at },
  {
    name: 'conversations of five, together: 5',
    traffic: (p) => ({ passes: () => p, conversation: 5 }),
    levels: (p) => ({ ...at(p), together: 5 }),
  },
  {
    name: 'a season of ±.03, usual: its lowest hour',
    traffic: (p) => ({ passes: season(p), conversation: 1 }),
    levels: (p) => ({ ...at(p), usual: p }),
  },
]

say(`\n${SERIES} series for a month: false pages, false tickets`)
for (const setting of settings) {
  for (const runsPerHour of [10, 1000]) {
    for (const sample of [0.05, 1]) {
      let pages = 0
      let tickets = 0
      for (let series = 0; series < SERIES; series += 1) {
        const p = series % 2 === 0 ? 0.9 : 0.7
        const traffic = { runsPerHour, sample, ...setting.traffic(p) }
        const fired = simulate(traffic, setting.levels(p), table, MONTH, 1000 * series + runsPerHour + 100 * sample)
        pages += fired.pages.length
        tickets += fired.tickets.length
      }
      say(`${setting.name}, ${runsPerHour}/h × ${100 * sample} %: ${pages} pages, ${tickets} tickets`)
      check(pages <= 1, 'at most one false page')
      check(tickets <= 10, 'at most ten false tickets')
    }
  }
}

/** The times of a fall from .90 with a target of .88, in hours. */
const expected: readonly { readonly scored: number; readonly fall: number; readonly hours: number }[] = [
  { scored: 10, fall: 0.1, hours: 62.4 },
  { scored: 10, fall: 0.2, hours: 17.7 },
  { scored: 50, fall: 0.05, hours: 62.4 },
  { scored: 50, fall: 0.1, hours: 8.8 },
  { scored: 50, fall: 0.2, hours: 3.3 },
  { scored: 1000, fall: 0.05, hours: 21.8 },
  { scored: 1000, fall: 0.1, hours: 58 / 60 },
  { scored: 1000, fall: 0.2, hours: 11 / 60 },
]

say('\na fall from .90 under a target of .88: found within 14 days of 14, median hours')
const WARM_UP = 4 * DAY
for (const { scored, fall, hours } of expected) {
  const waits: number[] = []
  for (let series = 0; series < SERIES; series += 1) {
    const passes = (minute: number) => (minute < WARM_UP ? 0.9 : 0.9 - fall)
    const traffic = { runsPerHour: scored, sample: 1, passes, conversation: 1 }
    const levels = { mean: 0.88, passed: 0.88, together: 1 }
    const [first] = simulate(traffic, levels, table, WARM_UP + 14 * DAY, 7 * series + scored, true).pages
    if (first !== undefined) waits.push((first - WARM_UP) / 60)
  }
  const median = waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)] ?? Number.POSITIVE_INFINITY
  say(
    `${scored}/h scored, fall ${fall}: ${waits.length} of ${SERIES}, ${median.toFixed(2)} h (twice ${hours.toFixed(2)} at most)`,
  )
  check(waits.length === SERIES && median <= 2 * hours, `found within twice ${hours.toFixed(2)} h`)
}

say(`\n${Math.round((performance.now() - startMs) / 1000)} s`)
process.exitCode = isMissed ? 1 : 0

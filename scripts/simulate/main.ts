/**
 * What the shipped rules do in months of simulated traffic: `npm run simulate`. First the evaluator is compared with promtool, on
 * a day with restarts and gaps; then come false pages and tickets of fleets whose truth is known, and the time until a
 * fall is found. Exits with 1 if a bound is missed. `npm run simulate -- 5` takes five series of each row, for a quick look: the
 * median of so few delays is left to chance, so that it is printed and not checked.
 */
import { findProgram } from '../e2e-tools.ts'
import { compareWithPromtool, MINUTES } from './agreement.ts'
import type { Outcome, Task } from './series.ts'
import { DROPS, FALL_ROWS, FALL_SERIES, RATES, SERIES, SETTINGS } from './settings.ts'
import { simulateAll } from './threads.ts'
import { simulateThreshold, THRESHOLDS } from './thresholds.ts'

const series = Number(process.argv[2] ?? SERIES)
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

function compare(): void {
  const promtool = findProgram('promtool')
  if (promtool === undefined) {
    say('promtool is not there: the evaluator is not compared with it (npm run test:e2e gets it)')
    return
  }
  const { compared, worst } = compareWithPromtool(promtool, MINUTES, { mean: 0.7, passed: 0.8, together: 1 })
  const difference = worst.toExponential(1)
  say(`evaluator and promtool: ${compared} values of evidence over a day, largest relative difference ${difference}`)
  check(worst < 1e-9, 'nine digits')
}

const each = <T>(of: (index: number) => T) => Array.from({ length: series }, (_, index) => of(index))
const total = (outcomes: readonly Outcome[], of: 'pages' | 'tickets') =>
  outcomes.reduce((sum, outcome) => sum + outcome[of], 0)

async function months(): Promise<void> {
  const rows = SETTINGS.flatMap(({ name }, setting) =>
    RATES.map(({ runsPerHour, sample }, rate) => ({
      name: `${name}, ${runsPerHour}/h × ${100 * sample} %`,
      setting,
      rate,
    })),
  )
  const tasks = rows.flatMap(({ setting, rate }) =>
    each((index): Task => ({ kind: 'month', setting, rate, series: index })),
  )
  const outcomes = await simulateAll(tasks)
  say(`\n${series} series for a month: false pages, false tickets`)
  for (const [index, { name }] of rows.entries()) {
    const ofRow = outcomes.slice(index * series, (index + 1) * series)
    const pages = total(ofRow, 'pages')
    const tickets = total(ofRow, 'tickets')
    say(`${name}: ${pages} pages, ${tickets} tickets`)
    check(pages <= 1, 'at most one false page')
    check(tickets <= 10, 'at most ten false tickets')
  }
}

async function drops(): Promise<void> {
  const tasks = DROPS.flatMap((_, drop) => each((index): Task => ({ kind: 'drop', drop, series: index })))
  const outcomes = await simulateAll(tasks)
  say('\na fall from .90 under a target of .88: how many are found within 14 days, and the median of the hours')
  for (const [index, { scored, fall, hours }] of DROPS.entries()) {
    const waits = outcomes
      .slice(index * series, (index + 1) * series)
      .flatMap(({ foundAfterHours }) => (foundAfterHours === undefined ? [] : [foundAfterHours]))
    const median = waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)] ?? Number.POSITIVE_INFINITY
    const twice = (2 * hours).toFixed(2)
    say(`${scored}/h scored, fall ${fall}: ${waits.length} of ${series}, ${median.toFixed(2)} h (at most ${twice} h)`)
    if (series >= SERIES) check(waits.length === series && median <= 2 * hours, `all found, half within ${twice} h`)
  }
}

async function falls(): Promise<void> {
  const count = Math.min(series, FALL_SERIES)
  const rows = FALL_ROWS.map((row, index) => ({ ...row, index }))
  const tasks = rows.flatMap(({ index }) =>
    Array.from({ length: count }, (_, one): Task => ({ kind: 'fall', row: index, series: one })),
  )
  const outcomes = await simulateAll(tasks)
  say('\na fall below what was usual for a month: found within 14 days, and half of them within')
  for (const { index, perDay, from, to } of rows) {
    const ofRow = outcomes.slice(index * count, (index + 1) * count)
    const found = (of: 'foundAfterHours' | 'ticketAfterHours') => {
      const hours = ofRow
        .map((outcome) => outcome[of] ?? Number.POSITIVE_INFINITY)
        .toSorted((one, other) => one - other)
      const median = hours[Math.floor(count / 2)] ?? Number.POSITIVE_INFINITY
      return `${hours.filter(Number.isFinite).length} of ${count}, ${median < 48 ? `${median.toFixed(1)} h` : `${(median / 24).toFixed(1)} d`}`
    }
    say(
      `${perDay} a day, ${from} to ${to}: ticket ${found('ticketAfterHours')}; page ${found('foundAfterHours')}; before the fall ${total(ofRow, 'pages')} pages, ${total(ofRow, 'tickets')} tickets`,
    )
    check(total(ofRow, 'pages') === 0, 'no page before the fall')
  }
}

/** What other tools alert on, at a level of .95 and after a fall to .8. */
function thresholds(): void {
  say('\nfixed thresholds: false alerts a month, and half of the falls found within')
  for (const perDay of [50, 500, 5000]) {
    for (const threshold of THRESHOLDS) {
      const found = Array.from({ length: FALL_SERIES }, (_, one) =>
        simulateThreshold(threshold, perDay, 77 * one + perDay),
      )
      const hours = found.map(({ foundAfterHours = Infinity }) => foundAfterHours).toSorted((one, other) => one - other)
      const falseAlerts = found.reduce((sum, outcome) => sum + outcome.falseAlerts, 0) / FALL_SERIES
      say(`${perDay} a day, ${threshold.name}: ${falseAlerts}, ${hours[FALL_SERIES / 2]?.toFixed(1)} h`)
    }
  }
}

compare()
thresholds()
await falls()
await months()
await drops()
say(`\n${Math.round((performance.now() - startMs) / 1000)} s`)
process.exitCode = isMissed ? 1 : 0

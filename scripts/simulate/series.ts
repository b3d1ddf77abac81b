import { simulate } from './month.ts'
import { DAY, DROPS, FALL_ROWS, RATES, SETTINGS } from './settings.ts'

const MONTH = 30 * DAY

/** The time before the fall. */
const WARM_UP = 4 * DAY

/** What is simulated of one series: a month of a setting at a rate, or the time until a drop is found. */
export type Task =
  | { readonly kind: 'month'; readonly setting: number; readonly rate: number; readonly series: number }
  | { readonly kind: 'drop'; readonly drop: number; readonly series: number }
  | { readonly kind: 'fall'; readonly row: number; readonly series: number }

/** The result of a task. */
export interface Outcome {
  readonly pages: number
  readonly tickets: number
  /** Hours from the fall to the first page, and to the first ticket, if there was one within 14 days. */
  readonly foundAfterHours?: number
  readonly ticketAfterHours?: number
}

/** Simulates one series. The same task has the same outcome every time. */
export function simulateSeries(task: Task): Outcome {
  return task.kind === 'month' ? month(task) : task.kind === 'drop' ? drop(task) : findFall(task)
}

function month({ setting: settingIndex, rate: rateIndex, series }: Extract<Task, { kind: 'month' }>): Outcome {
  const setting = SETTINGS[settingIndex]
  const rate = RATES[rateIndex]
  if (setting === undefined || rate === undefined) throw new Error(`expected a setting and a rate that exist`)
  const good = series % 2 === 0 ? 0.9 : 0.7
  const seed = 1000 * series + rate.runsPerHour + 100 * rate.sample
  const { pages, tickets } = simulate({ ...rate, ...setting.traffic(good) }, setting.levels(good), MONTH, seed)
  return { pages: pages.length, tickets: tickets.length }
}

/** A fall below the level of the thirty days before it. */
function findFall({ row: index, series }: Extract<Task, { kind: 'fall' }>): Outcome {
  const row = FALL_ROWS[index]
  if (row === undefined) throw new Error('expected a row that exists')
  const { perDay, from, to } = row
  const traffic = { runsPerHour: perDay / 24, sample: 1, passes: (minute: number) => (minute < MONTH ? from : to) }
  const { pages, tickets } = simulate(traffic, { together: 1 }, MONTH + 14 * DAY, 91 * series + perDay)
  const after = (began: readonly number[]) => began.find((minute) => minute >= MONTH)
  const [page, ticket] = [after(pages), after(tickets)]
  return {
    pages: pages.filter((minute) => minute < MONTH).length,
    tickets: tickets.filter((minute) => minute < MONTH).length,
    ...(page !== undefined && { foundAfterHours: (page - MONTH) / 60 }),
    ...(ticket !== undefined && { ticketAfterHours: (ticket - MONTH) / 60 }),
  }
}

function drop({ drop: dropIndex, series }: Extract<Task, { kind: 'drop' }>): Outcome {
  const found = DROPS[dropIndex]
  if (found === undefined) throw new Error('expected a drop that exists')
  const { scored, fall } = found
  const passes = (minute: number) => (minute < WARM_UP ? 0.9 : 0.9 - fall)
  const traffic = { runsPerHour: scored, sample: 1, passes }
  const levels = { mean: 0.88, passed: 0.88, together: 1 }
  const { pages, tickets } = simulate(traffic, levels, WARM_UP + 14 * DAY, 7 * series + scored, true)
  const [first] = pages
  const counts = { pages: pages.length, tickets: tickets.length }
  return first === undefined || first < WARM_UP ? counts : { ...counts, foundAfterHours: (first - WARM_UP) / 60 }
}

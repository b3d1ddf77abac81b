import { createRandom, poisson } from './random.ts'
import { DAY } from './settings.ts'

/** An alert that other tools have: the share that passes in a window is below a limit. */
export interface Threshold {
  readonly name: string
  readonly minutes: number
  readonly limit: number
}

/** What Langfuse, LangSmith and Opik document: an aggregate of a window below a fixed limit. */
export const THRESHOLDS: readonly Threshold[] = [
  { name: 'mean of the last hour below .9', minutes: 60, limit: 0.9 },
  { name: 'mean of the last day below .9', minutes: DAY, limit: 0.9 },
]

const MONTH = 30 * DAY

/** A month at .95, and two weeks at .8: how often the alert began in the month, and after how many hours of the two weeks. */
export function simulateThreshold(
  { minutes, limit }: Threshold,
  perDay: number,
  seed: number,
): { readonly falseAlerts: number; readonly foundAfterHours: number | undefined } {
  const random = createRandom(seed)
  const until = MONTH + 14 * DAY
  const passed = new Float64Array(until + 1)
  const scored = new Float64Array(until + 1)
  let falseAlerts = 0
  let isFiring = false
  for (let minute = 0; minute < until; minute += 1) {
    const good = minute < MONTH ? 0.95 : 0.8
    const [passes, fails] = [poisson((perDay / DAY) * good, random), poisson((perDay / DAY) * (1 - good), random)]
    passed[minute + 1] = (passed[minute] ?? 0) + passes
    scored[minute + 1] = (scored[minute] ?? 0) + passes + fails
    const from = Math.max(0, minute + 1 - minutes)
    const n = (scored[minute + 1] ?? 0) - (scored[from] ?? 0)
    const isBelow = n > 0 && ((passed[minute + 1] ?? 0) - (passed[from] ?? 0)) / n < limit
    if (isBelow && minute >= MONTH) return { falseAlerts, foundAfterHours: (minute - MONTH) / 60 }
    if (isBelow && !isFiring) falseAlerts += 1
    isFiring = isBelow
  }
  return { falseAlerts, foundAfterHours: undefined }
}

import { BEFORE, BEST, ENOUGH, SECONDS, SETTLED } from '../rules/limits.ts'
import { noIncreases, squares } from './counters.ts'
import type { Counters, Increases } from './counters.ts'

const HOUR = 60
const PAST_HOURS = 14 * 24

const NAMES = ['w', 'pass', 'wy', 'w2', 'w2pass', 'w2y', 'w2y2'] as const

/** The last 14 days as cumulated hourly sums, so that any span of hours is one subtraction. */
export class Past {
  readonly #totals: Readonly<Record<(typeof NAMES)[number], Float64Array>>
  readonly #increases: Increases = noIncreases()

  constructor(minutes: number) {
    const totals = () => new Float64Array(Math.ceil(minutes / HOUR) + 2)
    this.#totals = {
      w: totals(),
      pass: totals(),
      wy: totals(),
      w2: totals(),
      w2pass: totals(),
      w2y: totals(),
      w2y2: totals(),
    }
  }

  /** Keeps the sums of the hour that ends at this minute. */
  keepHour(counters: Counters, minute: number): void {
    const hour = minute / HOUR
    const increases = this.#increases
    const isKnown = counters.increase(minute, HOUR, increases)
    const w = increases.pass + increases.fail
    for (const name of NAMES) {
      const total = this.#totals[name]
      // `spanscore:sum_w` and `spanscore:sum_w2` are left out if they are 0, and so is any quotient with them as divisor.
      const value = !isKnown || !(w > 0) ? 0 : name === 'w' ? w : name === 'w2' ? squares(increases) : increases[name]
      total[hour + 1] = (total[hour] ?? 0) + value
    }
  }

  /** The level that is usual at a minute, as `spanscore:usual_mean` and `_passed` have it; `undefined` if there were too few runs. */
  usual(minute: number, measure: 'mean' | 'passed', together: number): number | undefined {
    const [settled, first] = BEFORE.map((before) => this.#sums(minute - (SECONDS[before] ?? 0) / 60))
    if (settled === undefined || first === undefined) return undefined
    const isSettled = settled.w >= SETTLED * first.w
    return (
      (isSettled ? surelyReached(settled, measure, together) : undefined) ?? surelyReached(first, measure, together)
    )
  }

  /** The sums of the 14 days before a minute. */
  #sums(untilMinute: number): PastSums {
    const to = Math.floor(untilMinute / HOUR)
    const from = Math.max(0, Math.floor((untilMinute - PAST_HOURS * HOUR) / HOUR) + 1)
    const sum = (name: (typeof NAMES)[number]) =>
      to < 0 ? 0 : (this.#totals[name][to + 1] ?? 0) - (this.#totals[name][from] ?? 0)
    return {
      w: sum('w'),
      pass: sum('pass'),
      wy: sum('wy'),
      w2: sum('w2'),
      w2pass: sum('w2pass'),
      w2y: sum('w2y'),
      w2y2: sum('w2y2'),
    }
  }
}

type PastSums = Readonly<Record<(typeof NAMES)[number], number>>

function surelyReached(
  { w, pass, wy, w2, w2pass, w2y, w2y2 }: PastSums,
  measure: 'mean' | 'passed',
  together: number,
): number | undefined {
  if (!(w > 0)) return undefined
  const mean = Math.min(1, Math.max(0, (measure === 'mean' ? wy : pass) / w))
  const spreads = measure === 'mean' ? spreadOf(mean, w2, w2y, w2y2) : passedSpread(mean, w2, w2pass)
  const n = effective(mean, w, w2, spreads) / together
  if (!(n >= ENOUGH)) return undefined
  const spread = Math.sqrt((mean * (1 - mean)) / n + 2.25 / n ** 2)
  return Math.min(BEST, (mean + 4.5 / n - 3 * spread) / (1 + 9 / n))
}

/** Σw²(y - mean)², from the sums. */
export function spreadOf(mean: number, w2: number, w2y: number, w2y2: number): number {
  return Math.max(0, w2y2 - 2 * mean * w2y + mean ** 2 * w2)
}

/** The same for the share of runs that pass. */
export function passedSpread(share: number, w2: number, w2pass: number): number {
  return Math.max(0, 1 - share) ** 2 * w2pass + share ** 2 * Math.max(0, w2 - w2pass)
}

/** The effective number of runs, as `spanscore:n` and `spanscore:passed_n` have it. */
export function effective(mean: number, w: number, w2: number, spread: number): number {
  const kish = w ** 2 / w2
  const variance = spread / w ** 2
  if (!(variance > 1e-9)) return kish
  return Math.min(kish, Math.max(1, (mean * (1 - mean)) / variance))
}

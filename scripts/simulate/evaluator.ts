import { BEST, ENOUGH, FREEZE, LEAST, SECONDS, TWELFTH } from '../rules/table.ts'
import type { Fall, Table } from '../rules/table.ts'
import type { Counters } from './counters.ts'

const HOUR = 60
const PAST_HOURS = 14 * 24

interface Sums {
  readonly w: number
  readonly pass: number
  readonly wy: number
  readonly w2: number
}

/** The levels that a series is held against. */
export interface Levels {
  readonly mean: number
  readonly passed: number
  readonly together: number
  readonly usual?: number
}

/** What the rules say at one minute. */
export interface Reading {
  /** By `<kind> <measure> <window> <fall>`, as `spanscore:evidence` is labelled. */
  readonly evidence: ReadonlyMap<string, number>
  /** The largest `spanscore:evidence:now`; `undefined` where there is none. */
  readonly now: number | undefined
}

interface Line {
  readonly key: string
  readonly kind: 'target' | 'usual'
  readonly measure: 'mean' | 'passed'
  /** Measure and window: what is usual is kept under it. */
  readonly level: string
  readonly window: string
  readonly twelfth: string | undefined
  readonly fall: number
  /** The level that the logarithms below are of. */
  good: number
  gain: number
  loss: number
}

/** Hourly sums, added up, so that any span of hours is one subtraction. */
class Hours {
  readonly #totals: Float64Array[]

  constructor(hours: number) {
    this.#totals = Array.from({ length: 6 }, () => new Float64Array(hours + 2))
  }

  put(hour: number, values: readonly (number | undefined)[]): void {
    for (const [index, total] of this.#totals.entries()) total[hour + 1] = (total[hour] ?? 0) + (values[index] ?? 0)
  }

  /** Of the hours after `from`, up to `to`. */
  between(from: number, to: number): readonly number[] {
    return this.#totals.map((total) => (total[to + 1] ?? 0) - (total[Math.max(0, from + 1)] ?? 0))
  }
}

/** Evaluates the shipped rules for one series of scores, minute by minute, as `collector-config/rules/recording.yml` has them. */
export class Evaluator {
  readonly #counters: Counters
  readonly #levels: Levels
  readonly #lines: readonly Line[]
  readonly #windows: readonly string[]
  readonly #hours: Hours
  readonly #usual = new Map<string, number>()
  readonly #learntAt = new Map<string, number>()
  readonly #sums = new Map<string, Sums | undefined>()
  #worse = false

  constructor(table: Table, levels: Levels, counters: Counters, minutes: number) {
    this.#counters = counters
    this.#levels = levels
    this.#hours = new Hours(Math.ceil(minutes / HOUR))
    this.#lines = table.falls.flatMap((fall) => linesOf(fall))
    this.#windows = [...new Set(this.#lines.flatMap(({ window, twelfth }) => [window, twelfth ?? window]))]
  }

  /** To be called for every minute, in order. */
  at(minute: number, wantsAll = false): Reading {
    if (minute % HOUR === 0) this.#keepHour(minute)
    for (const window of this.#windows) this.#sums.set(window, this.#sumsOf(minute, (SECONDS[window] ?? 0) / 60))
    this.#learn(minute)
    const evidence = new Map<string, number>()
    let now: number | undefined
    let worse = false
    for (const line of this.#lines) {
      const good = this.#goodFor(line)
      const value = good === undefined ? undefined : this.#evidence(line, good, line.window)
      if (value === undefined || good === undefined) continue
      if (wantsAll) evidence.set(line.key, value)
      if (line.kind === 'usual' && value > FREEZE) worse = true
      if (line.twelfth !== undefined) {
        if (now !== undefined && value <= now) continue
        const lately = this.#evidence(line, good, line.twelfth)
        if (lately === undefined || lately <= 0) continue
      }
      if (now === undefined || value > now) now = value
    }
    this.#worse = worse
    return { evidence, now }
  }

  #goodFor({ kind, measure, level }: Line): number | undefined {
    if (kind === 'target') return Math.min(BEST, this.#levels[measure])
    return this.#usual.get(level)
  }

  #evidence(line: Line, good: number, over: string): number | undefined {
    const sums = this.#sums.get(over)
    if (sums === undefined || good - line.fall < LEAST) return undefined
    if (line.good !== good) {
      line.good = good
      line.gain = Math.log((1 - (good - line.fall)) / (1 - good))
      line.loss = Math.log((good - line.fall) / good)
    }
    const gained = line.measure === 'mean' ? sums.wy : sums.pass
    const nats = Math.max(0, sums.w - gained) * line.gain + gained * line.loss
    return (nats * sums.w) / sums.w2 / this.#levels.together
  }

  #sumsOf(minute: number, windowMinutes: number): Sums | undefined {
    const counters = this.#counters
    const pass = counters.increase('pass', minute, windowMinutes)
    const fail = counters.increase('fail', minute, windowMinutes)
    const wy = counters.increase('wy', minute, windowMinutes)
    const w2 = counters.increase('w2', minute, windowMinutes)
    if (pass === undefined || fail === undefined || wy === undefined || w2 === undefined) return undefined
    const w = pass + fail
    return w > 0 && w2 > 0 ? { w, pass, wy, w2 } : undefined
  }

  #keepHour(minute: number): void {
    const of = (name: 'w2y' | 'w2y2') => this.#counters.increase(name, minute, HOUR)
    const sums = this.#sumsOf(minute, HOUR)
    this.#hours.put(minute / HOUR, [sums?.w, sums?.pass, sums?.wy, sums?.w2, of('w2y'), of('w2y2')])
  }

  /** What is usual, for each window: nothing new is learnt while the last minute's evidence spoke against it. */
  #learn(minute: number): void {
    const { usual: byHand } = this.#levels
    for (const { level: key, measure, window, kind } of this.#lines) {
      if (kind === 'target') continue
      if (measure === 'mean' && byHand !== undefined) this.#usual.set(key, Math.min(BEST, byHand))
      else if (!this.#worse) {
        const until = minute - (SECONDS[window] ?? 0) / 60
        const hour = Math.floor(until / HOUR)
        // The hours that are looked back on change once an hour.
        if (this.#learntAt.get(key) === hour) continue
        this.#learntAt.set(key, hour)
        const learnt = this.#lowerBound(until, measure)
        if (learnt === undefined) this.#usual.delete(key)
        else this.#usual.set(key, learnt)
      }
    }
  }

  #lowerBound(untilMinute: number, measure: 'mean' | 'passed'): number | undefined {
    const to = Math.floor(untilMinute / HOUR)
    if (to < 0) return undefined
    const from = Math.floor((untilMinute - PAST_HOURS * HOUR) / HOUR)
    const [w = 0, pass = 0, wy = 0, w2 = 0, w2y = 0, w2y2 = 0] = this.#hours.between(from, to)
    if (!(w > 0)) return undefined
    const kish = w ** 2 / w2
    const { together } = this.#levels
    if (!(kish / together >= ENOUGH)) return undefined
    const mean = measure === 'mean' ? Math.min(1, Math.max(0, wy / w)) : Math.min(1, pass / w)
    const n = (measure === 'mean' ? effective(mean, { w, w2, w2y, w2y2 }) : kish) / together
    const spread = Math.sqrt((mean * (1 - mean)) / n + 2.25 / n ** 2)
    return Math.min(BEST, (mean + 4.5 / n - 3 * spread) / (1 + 9 / n))
  }
}

/** The effective number of runs of `spanscore:n`. */
function effective(mean: number, sums: { w: number; w2: number; w2y: number; w2y2: number }): number {
  const kish = sums.w ** 2 / sums.w2
  const variance = Math.max(0, sums.w2y2 - 2 * mean * sums.w2y + mean ** 2 * sums.w2) / sums.w ** 2
  if (!(variance > 1e-9)) return kish
  return Math.min(kish, Math.max(1, (mean * (1 - mean)) / variance))
}

function linesOf({ window, fall }: Fall): Line[] {
  const kinds = ['target', 'usual'] as const
  const measures = ['mean', 'passed'] as const
  return kinds.flatMap((kind) =>
    measures.map((measure) => ({
      key: `${kind} ${measure} ${window} ${fall}`,
      kind,
      measure,
      level: `${measure} ${window}`,
      window,
      twelfth: TWELFTH[window],
      fall,
      good: Number.NaN,
      gain: 0,
      loss: 0,
    })),
  )
}

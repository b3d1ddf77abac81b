/** The counters of one series of scores, as they were sampled; `pass` and `fail` are the two of `spanscore.sum.w`. */
export const COUNTER_NAMES = ['pass', 'fail', 'wy', 'w2pass', 'w2fail', 'w2y', 'w2y2'] as const

/** Name of one of them. */
export type CounterName = (typeof COUNTER_NAMES)[number]

/** The values of all counters at one sample. */
export type Values = Readonly<Record<CounterName, number>>

/** The increases of the counters within a window. */
export type Increases = Record<CounterName, number>

/** Before anything was counted. */
export function noIncreases(): Increases {
  return { pass: 0, fail: 0, wy: 0, w2pass: 0, w2fail: 0, w2y: 0, w2y2: 0 }
}

/** Σw² of both labels. */
export function squares({ w2pass, w2fail }: Values): number {
  return w2pass + w2fail
}

const MINUTE_S = 60

/** How long Prometheus finds a sample. */
const LOOKBACK_S = 300

interface Series {
  readonly name: CounterName
  /** The values as they were sampled. */
  readonly raw: Float64Array
  /** The same without the resets. */
  readonly risen: Float64Array
}

/** Counters that are sampled once a minute, at most; a process that restarts begins at 0 again. */
export class Counters {
  /** Seconds of each sample. */
  readonly #times: Float64Array
  readonly #series: readonly Series[]
  /** For each minute, how many samples there were up to and including it. */
  readonly #until: Int32Array
  #count = 0
  #minute = 0

  /** @param minutes Maximum number of samples. */
  constructor(minutes: number) {
    this.#times = new Float64Array(minutes)
    this.#series = COUNTER_NAMES.map((name) => ({
      name,
      raw: new Float64Array(minutes),
      risen: new Float64Array(minutes),
    }))
    this.#until = new Int32Array(minutes)
  }

  /** The next minute's sample; `undefined` if it is missing. */
  sample(values: Values | undefined): void {
    if (values !== undefined) {
      const at = this.#count
      this.#times[at] = this.#minute * MINUTE_S
      for (const { name, raw, risen } of this.#series) {
        const value = values[name]
        const before = at === 0 ? 0 : (raw[at - 1] ?? 0)
        raw[at] = value
        risen[at] = at === 0 ? value : (risen[at - 1] ?? 0) + (value < before ? value : value - before)
      }
      this.#count += 1
    }
    this.#until[this.#minute] = this.#count
    this.#minute += 1
  }

  /**
   * `increase(counter[window])` of all counters at a minute, as Prometheus 3 computes it (`extrapolatedRate` in
   * promql/functions.go): samples of a range that is open on the left, resets made up for, extrapolated to the range's ends.
   *
   * @returns `false`, and leaves `into` as it is, below two samples.
   */
  increase(minute: number, windowMinutes: number, into: Increases): boolean {
    const from = minute - windowMinutes < 0 ? 0 : (this.#until[minute - windowMinutes] ?? 0)
    const last = (this.#until[minute] ?? 0) - 1
    const intervals = last - from
    if (intervals < 1) return false
    const firstTime = this.#times[from] ?? 0
    const lastTime = this.#times[last] ?? 0
    const sampled = lastTime - firstTime
    const average = sampled / intervals
    const threshold = average * 1.1
    let toStart = firstTime - (minute - windowMinutes) * MINUTE_S
    if (toStart >= threshold) toStart = average / 2
    let toEnd = minute * MINUTE_S - lastTime
    if (toEnd >= threshold) toEnd = average / 2
    for (const { name, raw, risen } of this.#series) {
      const rise = (risen[last] ?? 0) - (risen[from] ?? 0)
      const first = raw[from] ?? 0
      // A counter is not extrapolated to before it was 0.
      const start = rise > 0 && first >= 0 ? Math.min(toStart, sampled * (first / rise)) : toStart
      into[name] = rise * ((sampled + start + toEnd) / sampled)
    }
    return true
  }

  /**
   * What a minute added to all counters: `clamp_min(counter - counter offset 1m, 0)`.
   *
   * @returns `false`, and leaves `into` as it is, if there is no sample at one of the two ends.
   */
  added(minute: number, into: Increases): boolean {
    const last = this.#sampleAt(minute)
    const before = this.#sampleAt(minute - 1)
    if (last === undefined || before === undefined) return false
    for (const { name, raw } of this.#series) into[name] = Math.max(0, (raw[last] ?? 0) - (raw[before] ?? 0))
    return true
  }

  #sampleAt(minute: number): number | undefined {
    const last = (this.#until[minute] ?? 0) - 1
    const isFound = last >= 0 && minute * MINUTE_S - (this.#times[last] ?? 0) < LOOKBACK_S
    return isFound ? last : undefined
  }
}

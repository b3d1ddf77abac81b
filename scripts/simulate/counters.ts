/** The counters of one series of scores, as they were sampled; `pass` and `fail` are the two of `spanscore.sum.w`. */
export const COUNTER_NAMES = ['pass', 'fail', 'wy', 'w2', 'w2y', 'w2y2'] as const

/** Name of one of them. */
export type CounterName = (typeof COUNTER_NAMES)[number]

/** What is added to each counter between two samples. */
export type Added = Readonly<Record<CounterName, number>>

const MINUTE_S = 60

/** Counters that are sampled once a minute, at most; a process that begins anew begins at 0. */
export class Counters {
  /** Seconds of each sample. */
  readonly #times: Float64Array
  readonly #raw: Readonly<Record<CounterName, Float64Array>>
  /** The same without the resets. */
  readonly #risen: Readonly<Record<CounterName, Float64Array>>
  /** For each minute, how many samples there were until then, included. */
  readonly #until: Int32Array
  #count = 0
  #minute = 0

  constructor(minutes: number) {
    const numbers = () => new Float64Array(minutes)
    const all = (): Record<CounterName, Float64Array> => ({
      pass: numbers(),
      fail: numbers(),
      wy: numbers(),
      w2: numbers(),
      w2y: numbers(),
      w2y2: numbers(),
    })
    this.#times = numbers()
    this.#raw = all()
    this.#risen = all()
    this.#until = new Int32Array(minutes)
  }

  /** The values at the latest sample. */
  get latest(): Added {
    const last = this.#count - 1
    const value = (name: CounterName) => this.#raw[name][last] ?? 0
    return {
      pass: value('pass'),
      fail: value('fail'),
      wy: value('wy'),
      w2: value('w2'),
      w2y: value('w2y'),
      w2y2: value('w2y2'),
    }
  }

  /** The next minute's sample; `undefined` where it is missing. */
  sample(values: Added | undefined): void {
    if (values !== undefined) {
      const at = this.#count
      this.#times[at] = this.#minute * MINUTE_S
      for (const name of COUNTER_NAMES) {
        const raw = this.#raw[name]
        const risen = this.#risen[name]
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
   * `increase(counter[window])` at a minute, as Prometheus 3 computes it (`extrapolatedRate` in promql/functions.go): samples of
   * a range that is open on the left, resets made up for, extrapolated to the range's ends; `undefined` below two samples.
   */
  increase(name: CounterName, minute: number, windowMinutes: number): number | undefined {
    const from = minute - windowMinutes < 0 ? 0 : (this.#until[minute - windowMinutes] ?? 0)
    const last = (this.#until[minute] ?? 0) - 1
    const intervals = last - from
    if (intervals < 1) return undefined
    const times = this.#times
    const firstTime = times[from] ?? 0
    const lastTime = times[last] ?? 0
    const risen = (this.#risen[name][last] ?? 0) - (this.#risen[name][from] ?? 0)
    const sampled = lastTime - firstTime
    const average = sampled / intervals
    const threshold = average * 1.1
    let toStart = firstTime - (minute - windowMinutes) * MINUTE_S
    let toEnd = minute * MINUTE_S - lastTime
    if (toStart >= threshold) toStart = average / 2
    const first = this.#raw[name][from] ?? 0
    if (risen > 0 && first >= 0) toStart = Math.min(toStart, sampled * (first / risen))
    if (toEnd >= threshold) toEnd = average / 2
    return risen * ((sampled + toStart + toEnd) / sampled)
  }
}

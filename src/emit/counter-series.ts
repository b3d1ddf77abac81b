import type { ScoreAttributes } from './score-attributes.ts'

/** As the SDK's own default limit for one instrument; the series past it are summed in one. */
const MAX_SERIES = 2000

/** A counter that is summed here and observed when metrics are collected: counting costs no call into the SDK. */
export class CounterSeries {
  readonly #series = new Map<string, { readonly attributes: ScoreAttributes; value: number }>()

  /** @param attributes Asked for at the first value under a key. */
  add(value: number, key: string, attributes: () => ScoreAttributes): void {
    const known = this.#series.get(key)
    if (known) known.value += value
    else if (this.#series.size < MAX_SERIES) this.#series.set(key, { attributes: attributes(), value })
    else this.#overflow(value)
  }

  /** Adds all that was counted here to another one, perhaps of another copy of the package. */
  addTo(other: CounterSeries): void {
    for (const [key, { attributes, value }] of this.#series) other.add(value, key, () => attributes)
  }

  observe(report: (value: number, attributes: ScoreAttributes) => void): void {
    for (const { attributes, value } of this.#series.values()) report(value, attributes)
  }

  #overflow(value: number): void {
    const overflow = this.#series.get('overflow')
    if (overflow) overflow.value += value
    else this.#series.set('overflow', { attributes: { 'otel.metric.overflow': true }, value })
  }
}

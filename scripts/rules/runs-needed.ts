import { FALLS, LEAST, PAGE } from './limits.ts'
import type { Rule } from './recording.ts'

/** The falls for which the number of required runs is recorded. */
export const FALLS_OF_INTEREST: readonly number[] = [0.3, 0.2, 0.1, 0.05]

const DISTINCT_FALLS = [...new Set(FALLS.map(({ fall }) => fall))]

/**
 * How many independent runs, on average, it takes until a fall below a good level pages: of the falls that the rules look for,
 * the one whose evidence grows fastest.
 *
 * @param good The level that scores are compared with, 0 to 1.
 * @param fall By how much the mean is lower in truth.
 */
export function runsNeeded(good: number, fall: number): number {
  const actual = good - fall
  const nats = DISTINCT_FALLS.map((each) => good - each)
    .filter((fallen) => fallen >= LEAST)
    .map((fallen) => (1 - actual) * Math.log((1 - fallen) / (1 - good)) + actual * Math.log(fallen / good))
  const most = Math.max(...nats)
  return most > 0 ? PAGE / most : Number.POSITIVE_INFINITY
}

/** The same for the target of each series, or else for what is usual, beside how many runs three days of the traffic of now are worth. */
export function runsNeededRules(): Rule[] {
  const good = '(spanscore:target_passed or spanscore:target_mean or spanscore:usual_passed:1h)'
  const rules = FALLS_OF_INTEREST.map((fall): Rule => {
    const actual = `(${good} - ${fall} >= 0)`
    const nats = DISTINCT_FALLS.map((each, line) => {
      const fallen = `(${good} - ${each} >= ${LEAST})`
      const sum = `(1 - ${actual}) * ln((1 - ${fallen}) / (1 - ${good})) + ${actual} * ln(${fallen} / ${good})`
      return `label_replace(${sum}, "line", "${line}", "", "")`
    })
    return {
      record: 'spanscore:runs_needed',
      expr: `${PAGE} / (max without (line) (\n${nats.join('\nor ')}\n) > 0)`,
      labels: { fall: String(fall) },
    }
  })
  const scored = 'spanscore:sum_w:3d ^ 2 / spanscore:sum_w2:3d / spanscore:together'
  return [{ record: 'spanscore:independent_runs:3d', expr: scored }, ...rules]
}

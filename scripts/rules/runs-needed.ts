import { FALLS, LEAST, PAGE } from './limits.ts'

/**
 * How many independent runs, on average, it takes until a fall below a good level pages: of the falls that the rules look for in any window,
 * the one whose evidence grows fastest.
 *
 * @param good The level that scores are compared with, 0 to 1.
 * @param fall By how much the mean is lower in truth.
 */
export function runsNeeded(good: number, fall: number): number {
  const actual = good - fall
  const nats = FALLS.map((each) => good - each.fall)
    .filter((fallen) => fallen >= LEAST)
    .map((fallen) => (1 - actual) * Math.log((1 - fallen) / (1 - good)) + actual * Math.log(fallen / good))
  const most = Math.max(0, ...nats)
  return most > 0 ? PAGE / most : Number.POSITIVE_INFINITY
}

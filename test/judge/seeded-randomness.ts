import { secureRandomness } from '../../src/judge/randomness.ts'
import { createRandom } from '../fuzz/random.ts'

/**
 * From now on judges draw the same ids, orders and decoys for the same seed, so that what a page says about a measurement can be compared
 * to it. The key of their hashes is `_SPANSCORE_TEST_JUDGE_KEY`, which has to be set before `spanscore/testing` is loaded.
 */
export function seedRandomness(seed: number): void {
  const random = createRandom(seed)
  const hexDigits = (count: number) => Array.from({ length: count }, () => random.integer(16).toString(16)).join('')
  Object.assign(secureRandomness, {
    hex: (bytes: number) => hexDigits(2 * bytes),
    integer: (below: number) => random.integer(below),
  })
}

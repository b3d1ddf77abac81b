import { nodeCrypto } from '../spans/node-crypto.ts'

/** Where random things come from; replaced in tests. */
export interface Randomness {
  /** Hex digits of that many random bytes. */
  hex(bytes: number): string
  /** A whole number from 0 to `below` - 1. */
  integer(below: number): number
  /**
   * Hex digits of a keyed hash. Without the key nobody can distinguish it from random digits; with the key it can be computed
   * again, which is how the judges of `spanscore/testing` know which question is which.
   */
  digest(text: string): string
}

/** Environment variable by which `spanscore/testing` shares its key with the code under test, in child processes too. */
export const TEST_KEY_VARIABLE = '_SPANSCORE_TEST_JUDGE_KEY'

let ownKey: string | undefined

/** Randomness that nobody can guess. */
export const secureRandomness: Randomness = {
  hex: (bytes) => nodeCrypto().randomBytes(bytes).toString('hex'),
  integer: (below) => nodeCrypto().randomInt(below),
  digest: (text) => {
    ownKey ??= nodeCrypto().randomBytes(32).toString('hex')
    return keyedHash(process.env[TEST_KEY_VARIABLE] ?? ownKey, text)
  },
}

/** The hash of calls whose controls anybody may work out who can compute a hash: what is asked with basic hardening. */
export const openDigest: Pick<Randomness, 'digest'> = { digest: (text) => keyedHash('', text) }

/** Hex digits of HMAC-SHA-256. */
export function keyedHash(key: string, text: string): string {
  return nodeCrypto().createHmac('sha256', key).update(text).digest('hex')
}

/** The items in a random order (Fisher-Yates). */
export function shuffled<T>(items: readonly T[], randomness: Pick<Randomness, 'integer'>): T[] {
  const result: T[] = []
  for (const [count, item] of items.entries()) {
    const at = randomness.integer(count + 1)
    const displaced = result[at]
    if (at === count || displaced === undefined) result.push(item)
    else {
      result[at] = item
      result.push(displaced)
    }
  }
  return result
}

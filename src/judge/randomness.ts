import { nodeCrypto } from '../spans/node-crypto.ts'

/** The source of randomness; replaced in tests. */
export interface Randomness {
  /** Hex digits of that many random bytes. */
  hex(bytes: number): string
  /** A whole number from 0 to `below` - 1. */
  integer(below: number): number
  /**
   * Hex digits of a keyed hash. Without the key they look random. With the key they can be recomputed, which is how the judges of
   * `spanscore/testing` recognise questions.
   */
  digest(text: string): string
}

/** Environment variable by which `spanscore/testing` shares its key with the code under test, including child processes. */
export const TEST_KEY_VARIABLE = '_SPANSCORE_TEST_JUDGE_KEY'

let ownKey: string | undefined

/** Cryptographically secure randomness. */
export const secureRandomness: Randomness = {
  hex: (bytes) => nodeCrypto().randomBytes(bytes).toString('hex'),
  integer: (below) => nodeCrypto().randomInt(below),
  digest: (text) => {
    ownKey ??= nodeCrypto().randomBytes(32).toString('hex')
    return keyedHash(process.env[TEST_KEY_VARIABLE] ?? ownKey, text)
  },
}

/** The hash for basic hardening, whose controls anybody can compute. */
export const openDigest: Pick<Randomness, 'digest'> = { digest: (text) => keyedHash('', text) }

/** Hex digits of HMAC-SHA-256. */
export function keyedHash(key: string, text: string): string {
  return nodeCrypto().createHmac('sha256', key).update(text).digest('hex')
}

/** Shuffles the items (Fisher-Yates). */
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

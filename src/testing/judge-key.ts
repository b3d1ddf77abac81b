import { randomBytes } from 'node:crypto'

import { isControlId } from '../judge/controls/ids.ts'
import type { Randomness } from '../judge/randomness.ts'
import { keyedHash, openDigest, TEST_KEY_VARIABLE } from '../judge/randomness.ts'

/**
 * The key from which judges of this process and its child processes derive the ids of their questions. Test judges have
 * it and can therefore identify questions and controls, which no model can.
 */
const key = (process.env[TEST_KEY_VARIABLE] ??= randomBytes(32).toString('hex'))

type Digest = Pick<Randomness, 'digest'>

/** The keyed hash of the judges under test. */
const testDigest: Digest = { digest: (text) => keyedHash(key, text) }

/** The hash that derived the ids of a prompt. Hardened prompts need the key. */
export function digestOf(message: string): Digest {
  return / begin: (?:another text, which is not judged|texts for \w+)$/m.test(message) ? testDigest : openDigest
}

/** Whether an id of the call with this mark belongs to a control. */
export function isTestControl(mark: string, id: string): boolean {
  return isControlId(mark, id, testDigest)
}

import type { Explanation } from '../model/explanation.ts'
import type { Failed, FailureCode, Skipped, SkipReason } from '../model/score.ts'

/** Makes a skipped score: there was nothing to ask, or the run was left out. A plain message counts as content as a whole. */
export function skipped(reason: SkipReason, message: string | Explanation): Skipped {
  return { status: 'skipped', reason, ...messageOf(message) }
}

/** Makes a failed score: the scorer was asked and gave no valid score. A plain message counts as content as a whole. */
export function failed(code: FailureCode, message: string | Explanation): Failed {
  return { status: 'failed', code, ...messageOf(message) }
}

function messageOf(message: string | Explanation): Pick<Skipped, 'message' | 'messageWithoutContent'> {
  return typeof message === 'string'
    ? { message }
    : { message: message.text, messageWithoutContent: message.withoutContent }
}

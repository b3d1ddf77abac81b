import type { Explanation } from '../model/explanation.ts'
import type { Failed, FailureCode, Skipped, SkipReason } from '../model/score.ts'

/** No score: there was nothing to ask, or it was decided not to. All of a plain message counts as content. */
export function skipped(reason: SkipReason, message: string | Explanation): Skipped {
  return { status: 'skipped', reason, ...messageOf(message) }
}

/** No score: asking went wrong. All of a plain message counts as content. */
export function failed(code: FailureCode, message: string | Explanation): Failed {
  return { status: 'failed', code, ...messageOf(message) }
}

function messageOf(message: string | Explanation): Pick<Skipped, 'message' | 'messageWithoutContent'> {
  return typeof message === 'string'
    ? { message }
    : { message: message.text, messageWithoutContent: message.withoutContent }
}

import { askInquiry } from './ask-inquiry.ts'
import { askHardened } from './ask-hardened.ts'
import type { Answers, Inquiry } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import type { JudgeSession } from './session.ts'

/** Asks the judge as `judge.hardening` says. Returns an answer to every question, or a score that says why there is none. */
export function runInquiry(session: JudgeSession, inquiry: Inquiry): Promise<JudgeOutcome<Answers>> {
  return session.judge.settings.hardening === 'strong'
    ? askHardened(session, inquiry)
    : askInquiry(session, inquiry, true)
}

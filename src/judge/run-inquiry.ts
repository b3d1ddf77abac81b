import { askInquiry } from './ask-inquiry.ts'
import { askHardened } from './ask-hardened.ts'
import { askParts } from './ask-parts.ts'
import type { Answers, Inquiry } from './inquiry.ts'
import type { JudgeOutcome } from './outcome.ts'
import type { JudgeSession } from './session.ts'

/** Asks the judge as `judge.hardening` says. Returns an answer to every question, or a score that says why there is none. */
export async function runInquiry(session: JudgeSession, inquiry: Inquiry): Promise<JudgeOutcome<Answers>> {
  if (session.judge.settings.hardening === 'strong') return askHardened(session, inquiry)
  const outcome = await askInquiry(session, inquiry, true)
  return outcome.ok ? askParts(session, inquiry, outcome.value) : outcome
}

import type { Answers, Inquiry } from './inquiry.ts'
import type { Judge } from './judge.ts'
import type { JudgeOutcome } from './outcome.ts'
import type { JudgeSession } from './session.ts'
import type { ScoringContext } from '../scoring/scorer.ts'

// What asks a judge is loaded when one is first asked or prepared: an application without judges never loads it, and none does at its start.

/** Begins the judge calls of one score. */
export async function openSession(
  judge: Judge,
  scorerId: string,
  runId: string,
  context: ScoringContext,
): Promise<JudgeSession> {
  const { JudgeSession } = await import('./session.ts')
  return new JudgeSession(judge, scorerId, runId, context)
}

/** Asks the judge and accounts for every question: see `ask-inquiry.ts`. */
export async function inquire(session: JudgeSession, inquiry: Inquiry): Promise<JudgeOutcome<Answers>> {
  const { askInquiry } = await import('./ask-inquiry.ts')
  return askInquiry(session, inquiry)
}

import { contentFree } from '../../../model/explanation.ts'
import type { AgentRun, Conversation } from '../../../model/agent-run.ts'
import type { Skipped } from '../../../model/score.ts'
import { shownTurns } from '../../../judge/prompt/render-conversation.ts'
import { skip } from '../../skip.ts'

/** The conversation of a run that a judge is asked about, or why nobody said anything that it could judge. */
export function judgedConversation(run: AgentRun, id: string): Conversation | Skipped {
  const { conversation } = run
  if (conversation === undefined) return skip('not-applicable', contentFree(`${id}: this is no conversation.`))
  const isSaid = conversation.turns.some(({ user }) => user !== undefined && user.trim() !== '')
  return isSaid ? conversation : skip('no-content', contentFree(`${id}: the spans hold no message of the user.`))
}

/** What an explanation says if a judge was not shown all turns; otherwise empty. */
export function turnsLeftOut(conversation: Conversation): string {
  const leftOut = conversation.turns.length - shownTurns(conversation).length
  return leftOut === 0 ? '' : ` The judge was not shown ${leftOut} of ${conversation.turns.length} turns.`
}

import { toConversationRun } from '../conversations/conversation-run.ts'
import { joinMembers } from '../conversations/join-members.ts'
import type { ConversationFacts } from '../conversations/join-members.ts'
import type { ConversationMember } from '../conversations/member.ts'
import type { AgentRun } from '../model/agent-run.ts'
import type { ResolvedScorer } from './config/options.ts'

/** A conversation as some scorers see it. */
export interface ConversationOffer {
  /** The conversation as a run. */
  readonly run: AgentRun
  /** Whether a scorer sees it like this. */
  readonly isFor: (scorer: ResolvedScorer) => boolean
}

/** Whether a scorer scores conversations. */
export function isForConversations({ scorer }: ResolvedScorer): boolean {
  return scorer.level === 'conversation'
}

/**
 * A conversation for each group of scorers with the same `agent`: the runs of these agents are its turns. Where no run is of them, all runs are,
 * so that the scorer's ledger counts that it was filtered.
 *
 * @param members at least one
 */
export function conversationOffers(
  scorers: readonly ResolvedScorer[],
  members: readonly ConversationMember[],
  facts: ConversationFacts,
): readonly ConversationOffer[] {
  const groups = Map.groupBy(scorers.filter(isForConversations), ({ agents }) =>
    agents === undefined ? '' : JSON.stringify([...agents].toSorted()),
  )
  return [...groups.values()].map((group) => {
    const agents = group[0]?.agents
    const own = members.filter(({ run }) => agents === undefined || agents.has(run.agent.name ?? ''))
    const conversation = joinMembers(own.length === 0 ? members : own, facts)
    return { run: toConversationRun(conversation), isFor: (scorer) => group.includes(scorer) }
  })
}

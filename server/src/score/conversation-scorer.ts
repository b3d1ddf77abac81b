import type { AgentRun, Conversation, ConversationWarnings } from 'spanscore/engine'

import type { KeptConversation, KeptTurn } from '../log/turn-table.ts'

/** A conversation to score. */
export interface OfferedConversation extends KeptConversation {
  /** `conversationKey` of its runs. */
  readonly key: string
  readonly endedBy: Conversation['endedBy']
}

/** Scores conversations, and decides which are kept. */
export interface ConversationScorer {
  /**
   * What is kept of a run, after `redact`.
   *
   * @param warnings hears of a run without an id of a conversation, if there are scorers of conversations, and of one with an id, if there are none
   * @returns nothing if no scorer wants its conversation
   */
  turnOf(run: AgentRun, warnings: ConversationWarnings): Promise<KeptTurn | undefined>
  /** Whether a conversation of a service would be judged now. Its score is not urgent, so that it waits for a while. */
  isFreeFor(service: string): boolean
  /**
   * Resolves when every scorer has scored, skipped or failed. Never rejects.
   *
   * @param lost aborted when another process scores the conversation
   * @returns false if another process scores it
   */
  offerConversation(offered: OfferedConversation, lost: AbortSignal): Promise<boolean>
}

import type { AgentRun } from '../model/agent-run.ts'
import type { Message } from '../model/message.ts'
import { ReconstructedRun } from '../runs/view/run.ts'
import { nodeCrypto } from '../spans/node-crypto.ts'
import { reduceRun, bareRun } from './reduce-run.ts'

/** A run that is part of a conversation, with what tells it where in the conversation it is. It is plain data. */
export interface ConversationMember {
  /** The run, reduced. */
  readonly run: AgentRun
  /** Whether the user said something new. Otherwise the run goes on with the turn before it, such as after an approval. */
  readonly isNewTurn: boolean
  /** The digest of the user's new message. */
  readonly question?: string | undefined
  /** How many messages of the user its request repeats. */
  readonly repeated: number
  /** The digests of the latest of them, in order. */
  readonly latest: readonly string[]
  /** The digests of further messages in the user's name that were added during the run, such as a request to correct the output. */
  readonly added: readonly string[]
  /** The texts of the latest messages that its request repeats. */
  readonly earlier: readonly string[]
  /** Whether a span of the run says that the conversation is over. */
  readonly isLast: boolean
  /** Whether the run could not be redacted, so that nothing that it said is kept. */
  readonly isUnread?: boolean
}

/** Messages of the user that are remembered of the history in a request. */
const MAX_EARLIER = 20
/** Characters that are kept of each. */
const MAX_EARLIER_TEXT = 500
/** Characters by which messages are compared: libraries cut long ones in a history at different places. */
const MAX_COMPARED = 1000

/** Reads what a conversation keeps of a run. */
export function toMember(run: AgentRun): ConversationMember {
  const said = saidByUser(run.input)
  const isNewTurn = said.isOpen || run.input.length === 0
  const repeated = said.isOpen ? said.texts.slice(0, -1) : said.texts
  const question = said.isOpen ? said.texts.at(-1) : undefined
  const after = saidByUser(run.steps.at(-1)?.input ?? []).texts.slice(said.texts.length)
  return {
    run: reduceRun(run),
    isNewTurn,
    ...(question !== undefined && { question: digestOf(question) }),
    repeated: repeated.length,
    latest: repeated.slice(-MAX_EARLIER).map(digestOf),
    added: after.slice(-MAX_EARLIER).map(digestOf),
    earlier: repeated.slice(-MAX_EARLIER).map((text) => text.slice(0, MAX_EARLIER_TEXT).toWellFormed()),
    isLast: ReconstructedRun.endsConversation(run),
  }
}

/** What is kept of a run that must not be read: that there was one. */
export function toUnreadMember(run: AgentRun): ConversationMember {
  const isLast = ReconstructedRun.endsConversation(run)
  return {
    run: bareRun(run),
    isNewTurn: true,
    repeated: 0,
    latest: [],
    added: [],
    earlier: [],
    isLast,
    isUnread: true,
  }
}

/**
 * The messages of the user. Of several in a row, such as documents and then the question, the last one counts.
 *
 * @returns `isOpen`: whether the last message is one of them
 */
function saidByUser(messages: readonly Message[]): { readonly texts: readonly string[]; readonly isOpen: boolean } {
  const texts: string[] = []
  let isOpen = false
  for (const { role, text } of messages) {
    if (role === 'system' || role === 'developer') continue
    // Some providers return the results of tools in the user's name.
    const isOfUser = role === 'user' && text !== undefined && text.trim() !== ''
    if (isOfUser && isOpen) texts[texts.length - 1] = text
    else if (isOfUser) texts.push(text)
    isOpen = isOfUser
  }
  return { texts, isOpen }
}

function digestOf(text: string): string {
  const compared = text.slice(0, MAX_COMPARED).replaceAll(/\s+/g, ' ').trim()
  return nodeCrypto().createHash('sha256').update(compared).digest('hex').slice(0, 12)
}

import type { AgentRun, Conversation, Missing, ConversationTurn } from '../model/agent-run.ts'
import { boundPayloads } from './bound-payloads.ts'
import type { ConversationMember } from './member.ts'

/** What is known of a conversation besides its runs. */
export interface ConversationFacts {
  readonly endedBy: Conversation['endedBy']
  /** Runs of it that were not kept, because there were too many. @default 0 */
  readonly leftOut?: number
}

/**
 * Joins runs to a conversation. The result does not depend on the order in which they arrived.
 *
 * @param members at least one
 */
export function joinMembers(
  members: readonly ConversationMember[],
  { endedBy, leftOut = 0 }: ConversationFacts,
): Conversation {
  const sorted = members.toSorted((one, other) => one.run.startTimeMs - other.run.startTimeMs)
  const runs = boundPayloads(sorted.map(({ run }) => run))
  const ordered = sorted.map((member, index) => ({ ...member, run: runs[index] ?? member.run }))
  const id = runs.find(({ conversationId }) => conversationId !== undefined)?.conversationId
  const missing: Missing[] = []
  if (leftOut > 0) missing.push({ what: 'turns', why: 'limit' })
  else if (losesTurns(ordered)) missing.push({ what: 'turns', why: 'span-lost' })
  if (ordered.some(({ isUnread }) => isUnread === true)) missing.push({ what: 'turns', why: 'redacted' })
  return {
    ...(id !== undefined && { id }),
    turns: turnsOf(ordered),
    runs,
    earlier: ordered[0]?.earlier ?? [],
    startTimeMs: runs[0]?.startTimeMs ?? 0,
    endTimeMs: runs.reduce((end, { endTimeMs }) => Math.max(end, endTimeMs), 0),
    endedBy,
    complete: missing.length === 0 && runs.every(({ complete }) => complete),
    missing,
    revision: runs.length + leftOut,
  }
}

function turnsOf(members: readonly ConversationMember[]): readonly ConversationTurn[] {
  const turns: { user: string | undefined; runs: AgentRun[] }[] = []
  for (const { run, isNewTurn } of members) {
    const turn = turns.at(-1)
    if (isNewTurn || turn === undefined) turns.push({ user: run.userInput, runs: [run] })
    else turn.runs.push(run)
  }
  return turns.map(({ user, runs }) => ({ ...(user !== undefined && { user }), runs }))
}

/**
 * Whether a request repeats a message of the user that came after the first run's and belongs to no run: the run that answered it is
 * missing.
 */
function losesTurns(members: readonly ConversationMember[]): boolean {
  const [first, ...others] = members
  const known = new Set(
    members.flatMap(({ question, added }) => (question === undefined ? added : [question, ...added])),
  )
  return others.some(({ repeated, latest }) => {
    // Where in `latest` the first run's own message is, if no message was left out of the request.
    const place = (first?.repeated ?? 0) - (repeated - latest.length)
    const isWhole = repeated > (first?.repeated ?? 0) && (place < 0 || latest[place] === first?.question)
    // A history may be shortened, or begin with a summary. What follows a known message came after it.
    const from = isWhole ? Math.max(0, place) : latest.findIndex((digest) => known.has(digest))
    return from >= 0 && latest.slice(from).some((digest) => !known.has(digest))
  })
}

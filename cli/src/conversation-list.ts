import { conversationKey } from '../../src/conversations/conversation-key.ts'
import { joinMembers } from '../../src/conversations/join-members.ts'
import { toMember } from '../../src/conversations/member.ts'
import type { ConversationMember } from '../../src/conversations/member.ts'
import type { AgentRun, Conversation } from '../../src/model/agent-run.ts'
import { cutLine, safeLine } from './text.ts'

/** What is shown of a conversation. */
export interface ListedConversation extends Pick<
  Conversation,
  'id' | 'complete' | 'missing' | 'startTimeMs' | 'endTimeMs'
> {
  readonly service?: string
  readonly agents: readonly string[]
  readonly turns: readonly { readonly user?: string | undefined; readonly runs: readonly string[] }[]
}

/** The conversations in trace files: runs of one service with one id. */
export class ConversationList {
  readonly #members = new Map<string, ConversationMember[]>()

  add(run: AgentRun): void {
    const key = conversationKey(run)
    if (key === undefined) return
    const members = this.#members.get(key) ?? []
    this.#members.set(key, members)
    members.push(toMember(run))
  }

  /** Those of more than one run, in the order of their first runs. */
  get all(): readonly ListedConversation[] {
    return [...this.#members.values()].filter(({ length }) => length > 1).map(toListed)
  }
}

function toListed(members: readonly ConversationMember[]): ListedConversation {
  const { id, turns, runs, complete, missing, startTimeMs, endTimeMs } = joinMembers(members, { endedBy: 'file' })
  const service = runs[0]?.resource['service.name']
  return {
    ...(id !== undefined && { id }),
    ...(typeof service === 'string' && { service }),
    agents: [...new Set(runs.flatMap(({ agent }) => agent.name ?? []))],
    turns: turns.map(({ user, runs: ofTurn }) => ({
      ...(user !== undefined && { user }),
      runs: ofTurn.map(({ id: runId }) => runId),
    })),
    startTimeMs,
    endTimeMs,
    complete,
    missing,
  }
}

/** One line a conversation, and one a turn. */
export function renderConversations(all: readonly ListedConversation[], columns: number): string {
  return all
    .map(({ id = '', agents, turns, missing }) => {
      const of = agents.length === 0 ? '' : ` with ${agents.join(', ')}`
      const lacking = missing.map(({ what, why }) => `, ${what} missing (${why})`).join('')
      const count = `${turns.length} ${turns.length === 1 ? 'turn' : 'turns'}`
      const lines = turns.map(({ user, runs }, index) => `${index + 1} ${user ?? '(not recorded)'}  ${runs.join(' ')}`)
      const head = cutLine(safeLine(`conversation ${id}${of}: ${count}${lacking}`), columns)
      return [head, ...lines.map((line) => `  ${cutLine(safeLine(line), columns - 2)}`)].join('\n')
    })
    .join('\n')
}

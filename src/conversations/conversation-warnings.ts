import type { AgentRun } from '../model/agent-run.ts'
import type { ConversationMember } from './member.ts'

/** More runs than a conversation of one user has. The service keeps no more of one. */
export const MAX_RUNS = 200
/** Conversations of which the share with one run is taken. */
const WATCHED = 100
/** Above this share, ids probably change with every request. */
const MOST_SINGLE = 0.95

/** Reports once each what shows that conversations are not what users would call one. The messages hold no content. */
export class ConversationWarnings {
  readonly #report: (message: string) => void
  readonly #reported = new Set<string>()
  #watched = 0
  #single = 0

  constructor(report: (message: string) => void) {
    this.#report = report
  }

  /** A run has no id of a conversation. */
  withoutId(run: AgentRun): void {
    this.#once(
      'without-id',
      `Runs of ${nameOf(run)} have no id of a conversation, so they are in none: set gen_ai.conversation.id or session.id on the agent's span or a span around it.`,
    )
  }

  /** A run has an id of a conversation, and no scorer is one of conversations. */
  notScored(): void {
    this.#once(
      'not-scored',
      'Runs have ids of conversations, and no scorer scores conversations: abandoned and repeated_question need no judge (docs/conversations.md).',
    )
  }

  /** A conversation is scored. */
  ended(members: readonly ConversationMember[], leftOut = 0): void {
    const [first] = members
    if (first === undefined) return
    if (members.length + leftOut > MAX_RUNS) {
      const rest = leftOut > 0 ? ' Runs in its middle are left out.' : ''
      this.#once(
        'too-many-runs',
        `A conversation of ${nameOf(first.run)} has more than ${MAX_RUNS} runs. Do all users have the same id?${rest}`,
      )
    }
    if (overlap(members)) {
      this.#once(
        'overlap',
        `Runs of two agents of one conversation overlap. Name the agent that talks to the user: agent: '${nameOf(first.run)}' on the scorer's entry.`,
      )
    }
    this.#watched += 1
    // The request repeats messages, so there were runs before it.
    if (members.length === 1 && first.repeated > 0) this.#single += 1
    if (this.#watched < WATCHED) return
    if (this.#single > MOST_SINGLE * WATCHED) {
      this.#once(
        'new-ids',
        `Almost all conversations of the last ${WATCHED} have one run, whose request repeats earlier messages. Does ${nameOf(first.run)} write a new id with every request?`,
      )
    }
    this.#watched = 0
    this.#single = 0
  }

  #once(code: string, message: string): void {
    if (this.#reported.has(code)) return
    this.#reported.add(code)
    this.#report(message)
  }
}

function nameOf({ agent }: AgentRun): string {
  return agent.name ?? 'an agent without a name'
}

/** Whether runs of two agents ran at the same time. */
function overlap(members: readonly ConversationMember[]): boolean {
  const runs = members.map(({ run }) => run).toSorted((one, other) => one.startTimeMs - other.startTimeMs)
  return runs.some((run, index) => {
    const next = runs[index + 1]
    return next !== undefined && next.startTimeMs < run.endTimeMs && next.agent.name !== run.agent.name
  })
}

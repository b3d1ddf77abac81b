import type { AgentRun, ConversationMember } from 'spanscore/engine'

import { MAX_RUNS } from '../log/turn-table.ts'
import type { KeptConversation } from '../log/turn-table.ts'

/** Conversations of which the share with one run is taken. */
const WATCHED = 100
/** Above this share, ids probably change with every request. */
const MOST_SINGLE = 0.95

/** Reports once each what shows that conversations are not what users would call one. */
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

  /** A conversation is scored. */
  ended({ members, leftOut }: KeptConversation): void {
    const [first] = members
    if (first === undefined) return
    if (leftOut > 0) {
      this.#once(
        'too-many-runs',
        `A conversation of ${nameOf(first.run)} has more than ${MAX_RUNS} runs. Do all users have the same id? Runs in its middle are left out.`,
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

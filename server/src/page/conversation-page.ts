import type { DatabaseSync } from 'node:sqlite'

import { joinMembers } from 'spanscore/engine'
import type { AgentRun, Conversation } from 'spanscore/engine'

import { asShown } from './run-page.ts'
import { findConversation, scoresOfConversation, turnsOf } from './store/conversations.ts'
import type { ConversationScore } from './store/conversations.ts'
import { marksOf, opinionsOf } from './store/run-list.ts'
import type { ListedScore, Opinion } from './store/run-list.ts'

type ToolCall = AgentRun['toolCalls'][number]

/** A run in a conversation: what it answered, by which tools, and how it was scored. */
export interface ThreadRun extends Pick<
  AgentRun,
  'id' | 'output' | 'error' | 'status' | 'complete' | 'startTimeMs' | 'endTimeMs'
> {
  readonly agent: string
  readonly calls: readonly Pick<ToolCall, 'name' | 'status' | 'error'>[]
  /** Calls that are left out, because there are too many. */
  readonly moreCalls: number
  readonly scores: readonly ListedScore[]
  /** What its users say; not shown to people who have yet to label it. */
  readonly opinions: readonly Opinion[]
}

/** A conversation from its first message to its last answer. */
export interface Thread extends Pick<
  Conversation,
  'earlier' | 'complete' | 'missing' | 'startTimeMs' | 'endTimeMs' | 'revision'
> {
  readonly key: string
  readonly id: string
  readonly service: string
  readonly agents: readonly string[]
  readonly turns: readonly { readonly user?: string | undefined; readonly runs: readonly ThreadRun[] }[]
  readonly scores: readonly ConversationScore[]
}

/** Most tool calls of a run that are named. */
const MAX_CALLS = 20

/**
 * A conversation with its runs and scores; `undefined` if it is unknown.
 *
 * @param viewer the viewer; runs have no verdicts that this person should label
 */
export function readConversation(database: DatabaseSync, key: string, viewer: string): unknown {
  const found = findConversation(database, key)
  if (found === undefined) return undefined
  const { turns: stored, leftOut } = turnsOf(database, found.seq)
  if (stored.length === 0) return undefined
  const seqOf = new Map(stored.map(({ runSeq, member }) => [member.run.id, runSeq]))
  const marks = marksOf(
    database,
    stored.map(({ runSeq }) => ({ seq: runSeq })),
    { viewer },
  )
  const opinions = opinionsOf(
    database,
    stored.map(({ member }) => member.run.traceId),
  )
  const conversation = joinMembers(
    stored.map(({ member }) => member),
    { endedBy: 'file', leftOut },
  )
  const { turns, runs, earlier, complete, missing, startTimeMs, endTimeMs, revision } = conversation
  const marksOfRun = ({ id }: AgentRun) => marks.get(seqOf.get(id) ?? -1) ?? []
  const toThreadRun = (run: AgentRun): ThreadRun => ({
    id: run.id,
    agent: run.agent.name ?? '',
    ...(run.output !== undefined && { output: run.output }),
    ...(run.error !== undefined && { error: run.error }),
    status: run.status,
    complete: run.complete,
    startTimeMs: run.startTimeMs,
    endTimeMs: run.endTimeMs,
    calls: run.toolCalls
      .slice(0, MAX_CALLS)
      .map(({ name, status, error }) => ({ name, status, ...(error !== undefined && { error }) })),
    moreCalls: Math.max(0, run.toolCalls.length - MAX_CALLS),
    scores: marksOfRun(run),
    opinions: marksOfRun(run).some(({ status }) => status === 'withheld') ? [] : (opinions.get(run.traceId) ?? []),
  })
  const thread: Thread = {
    key,
    id: found.id,
    service: found.service,
    agents: [...new Set(runs.flatMap(({ agent }) => agent.name ?? []))],
    turns: turns.map(({ user, runs: ofTurn }) => ({
      ...(user !== undefined && { user }),
      runs: ofTurn.map(toThreadRun),
    })),
    earlier,
    complete,
    missing,
    startTimeMs,
    endTimeMs,
    revision,
    scores: scoresOfConversation(database, found.seq),
  }
  return asShown(thread)
}

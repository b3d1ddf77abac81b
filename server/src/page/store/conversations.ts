import type { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { conversationKey, MAX_RUNS, toMember } from 'spanscore/engine'
import type { AgentRun, ConversationMember } from 'spanscore/engine'

import { FIRST_RUNS } from '../../log/turn-table.ts'
import type { ShownEvaluation } from '../shown-evaluation.ts'
import { all, first, run as execute } from './page-database.ts'
import { shownName } from './run-summary.ts'
import { replaceRow, scoreColumns, shortVersion, timeOf } from './run-writer.ts'

/** The place of a conversation without scores: after all others. */
const UNSCORED = 2

/**
 * Stores what a conversation shows of a run, if it has an id of one and no other run started it.
 *
 * @returns which run of the conversation it is, from 1
 */
export function saveTurn(database: DatabaseSync, runSeq: number, run: AgentRun, settledMs: number): number | undefined {
  const key = run.parent === undefined ? conversationKey(run) : undefined
  if (key === undefined) return undefined
  const saved = first<{ seq: number }>(
    database,
    `INSERT INTO conversations (key, id, service, agent, latest_ms, settled_ms, place) VALUES (?, ?, ?, ?, ?, ?, ${UNSCORED})
     ON CONFLICT (key) DO UPDATE SET latest_ms = max(latest_ms, excluded.latest_ms),
       settled_ms = max(settled_ms, excluded.settled_ms) RETURNING seq`,
    key,
    shownName(run.conversationId),
    shownName(run.resource['service.name']),
    shownName(run.agent.name),
    timeOf({ endMs: run.endTimeMs }, settledMs),
    settledMs,
  )
  const member = toMember(run)
  const before = first<{ conversation: number }>(database, 'SELECT conversation FROM turns WHERE run_seq = ?', runSeq)
  replaceRow(database, 'turns', {
    run_seq: runSeq,
    conversation: saved?.seq ?? 0,
    start_ms: run.startTimeMs,
    is_new: Number(member.isNewTurn),
    member: zstdCompressSync(JSON.stringify(member)),
  })
  // A span that came later may hold another id.
  if (before !== undefined) forgetIfEmpty(database, before.conversation)
  return first<{ turn: number }>(
    database,
    'SELECT count(*) AS turn FROM turns WHERE conversation = ? AND (start_ms, run_seq) <= (?, ?)',
    saved?.seq ?? 0,
    run.startTimeMs,
    runSeq,
  )?.turn
}

/** A scorer's result for a conversation. */
export interface ConversationScore {
  readonly evaluation: ShownEvaluation
  /** The id of the first run of each turn that the scorer saw; empty if that is not known. */
  readonly turns: readonly string[]
}

/**
 * Stores a scorer's result for a conversation, unless there is one of the same version of the scorer for as many of its runs.
 *
 * @returns whether it is stored
 */
export function saveConversationScore(
  database: DatabaseSync,
  key: string,
  { evaluation, turns }: ConversationScore,
): boolean {
  const found = first<{ seq: number; agent: string; latest_ms: number; settled_ms: number }>(
    database,
    'SELECT seq, agent, latest_ms, settled_ms FROM conversations WHERE key = ?',
    key,
  )
  if (found === undefined) return false
  const known = first<{ turns: string; version: string; revision: number; status: string }>(
    database,
    'SELECT turns, version, revision, status FROM conversation_scores WHERE conversation = ? AND scorer = ?',
    found.seq,
    evaluation.scorer.id,
  )
  if (known !== undefined) {
    // A conversation that goes on after a long time begins anew, with other runs.
    const isSame = beginOf(known.turns) === turns[0]
    const isKnown = known.version === shortVersion(evaluation.scorer) && known.revision >= evaluation.revision
    // What could not be scored of it says less than what was.
    const saysLess = known.status === 'scored' && evaluation.score.status !== 'scored'
    if (isSame ? isKnown : saysLess) return false
  }
  const began = first<{ agent: string; agent_version: string; model: string }>(
    database,
    'SELECT agent, agent_version, model FROM runs WHERE id = ?',
    turns[0] ?? '',
  )
  replaceRow(database, 'conversation_scores', {
    conversation: found.seq,
    ...scoreColumns(evaluation),
    agent: began?.agent ?? found.agent,
    agent_version: began?.agent_version ?? '',
    model: began?.model ?? '',
    time_ms: found.latest_ms,
    settled_ms: found.settled_ms,
    turns: JSON.stringify(turns),
    evaluation: JSON.stringify(evaluation),
  })
  rank(database, found.seq)
  return true
}

function beginOf(turns: string): string | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveConversationScore`
  return (JSON.parse(turns) as readonly string[])[0]
}

/** The worst conversation is the one that most scorers fail; of equals, the one with the lowest score, as a position in its range. */
function rank(database: DatabaseSync, seq: number): void {
  execute(
    database,
    `UPDATE conversations SET place = (
       SELECT CASE count(value) WHEN 0 THEN ${UNSCORED} ELSE coalesce(min(position), 1) - total(label = 'fail') END
       FROM conversation_scores WHERE conversation = ?1) WHERE seq = ?1`,
    seq,
  )
}

/** Deletes a conversation, with its scores, if it has no run any more. */
export function forgetIfEmpty(database: DatabaseSync, seq: number): void {
  execute(
    database,
    'DELETE FROM conversations WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation = ?1)',
    seq,
  )
}

/**
 * Deletes a chunk of the scores whose latest run is too old. A conversation with the id of everybody never ends.
 *
 * @returns how many were deleted
 */
export function forgetConversationScores(database: DatabaseSync, beforeMs: number, chunk: number): number {
  const aged = all<{ conversation: number }>(
    database,
    `DELETE FROM conversation_scores WHERE rowid IN
       (SELECT rowid FROM conversation_scores WHERE settled_ms < ? ORDER BY settled_ms LIMIT ?) RETURNING conversation`,
    beforeMs,
    chunk,
  )
  for (const seq of new Set(aged.map(({ conversation }) => conversation))) rank(database, seq)
  return aged.length
}

/** A conversation as it is stored. */
export interface StoredConversation {
  readonly seq: number
  readonly key: string
  readonly id: string
  readonly service: string
}

/** The conversation with a key; `undefined` if there is none. */
export function findConversation(database: DatabaseSync, key: string): StoredConversation | undefined {
  return first<StoredConversation>(database, 'SELECT seq, key, id, service FROM conversations WHERE key = ?', key)
}

/** A run of a conversation, as it is stored. */
export interface StoredTurn {
  readonly runSeq: number
  readonly member: ConversationMember
}

/** The runs of a conversation: those that the service keeps to score it, if there are too many. */
export function turnsOf(
  database: DatabaseSync,
  seq: number,
): { readonly turns: readonly StoredTurn[]; readonly leftOut: number } {
  const count = first<{ n: number }>(database, 'SELECT count(*) AS n FROM turns WHERE conversation = ?', seq)?.n ?? 0
  const rows = (order: string, limit: number) =>
    all<{ run_seq: number; member: Uint8Array }>(
      database,
      `SELECT run_seq, member FROM turns WHERE conversation = ? ORDER BY start_ms ${order}, run_seq ${order} LIMIT ${limit}`,
      seq,
    )
  const shown =
    count <= MAX_RUNS
      ? rows('', MAX_RUNS)
      : [...rows('', FIRST_RUNS), ...rows('DESC', MAX_RUNS - FIRST_RUNS).toReversed()]
  return {
    turns: shown.map(({ run_seq: runSeq, member }) => ({
      runSeq,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveTurn`
      member: JSON.parse(zstdDecompressSync(member).toString()) as ConversationMember,
    })),
    leftOut: count - shown.length,
  }
}

/** The results of all scorers for a conversation. */
export function scoresOfConversation(database: DatabaseSync, seq: number): readonly ConversationScore[] {
  const rows = all<{ evaluation: string; turns: string }>(
    database,
    'SELECT evaluation, turns FROM conversation_scores WHERE conversation = ? ORDER BY scorer',
    seq,
  )
  return rows.map(({ evaluation, turns }) => ({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveConversationScore`
    evaluation: JSON.parse(evaluation) as ShownEvaluation,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
    turns: JSON.parse(turns) as readonly string[],
  }))
}

/** The number of turns of a conversation: the first run begins one, whether the user said something new or not. */
export const TURN_COUNT = `(SELECT total(t.is_new) + 1 - coalesce((SELECT b.is_new FROM turns b WHERE b.conversation = c.seq
  ORDER BY b.start_ms, b.run_seq LIMIT 1), 0) FROM turns t WHERE t.conversation = c.seq)`

/** The conversation of a run; `undefined` if it is in none. */
export function conversationOf(
  database: DatabaseSync,
  runSeq: number,
): { readonly key: string; readonly turns: number } | undefined {
  return first(
    database,
    `SELECT c.key, ${TURN_COUNT} AS turns FROM turns own JOIN conversations c ON c.seq = own.conversation WHERE own.run_seq = ?`,
    runSeq,
  )
}

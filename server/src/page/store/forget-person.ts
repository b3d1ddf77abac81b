import type { DatabaseSync } from 'node:sqlite'

import type { Person } from '../../person.ts'
import { shownName } from './run-summary.ts'
import { all, first, run as execute } from './page-database.ts'

/** The traces of the stored runs of a person, a conversation or a trace, and of what that person said. */
export function tracesOfPerson(database: DatabaseSync, person: Person): readonly string[] {
  if ('trace' in person) return [person.trace]
  const rows =
    'conversation' in person
      ? all<{ trace_id: string }>(
          database,
          `SELECT DISTINCT r.trace_id FROM conversations c JOIN turns t ON t.conversation = c.seq
             JOIN runs r ON r.seq = t.run_seq WHERE c.key = ?1 OR c.id = ?2`,
          person.conversation,
          shownName(person.conversation),
        )
      : all<{ trace_id: string }>(
          database,
          `SELECT trace_id FROM runs WHERE user_id = ?1 AND user_id <> ''
             UNION SELECT trace_id FROM said WHERE json_extract(log, '$.attributes."user.id"') = ?1`,
          shownName(person.user),
        )
  return rows.map((row) => row.trace_id)
}

/** The number of stored runs in traces, without those that others started. */
export function countRuns(database: DatabaseSync, traceIds: readonly string[]): number {
  const sql = 'SELECT count(*) AS n FROM runs WHERE parent_id IS NULL AND trace_id IN (SELECT value FROM json_each(?))'
  return first<{ n: number }>(database, sql, JSON.stringify(traceIds))?.n ?? 0
}

/**
 * Deletes traces with their runs, their scores, what was said of them, and the scores of their conversations, which quote them. Labels are people's work,
 * and stay without their notes. Must be called within a transaction; the words of the runs stay in the text index until it is merged.
 */
export function forgetTraces(database: DatabaseSync, traceIds: readonly string[]): void {
  const given = JSON.stringify(traceIds)
  const inTraces = 'trace_id IN (SELECT value FROM json_each(?1))'
  const runsOf = `SELECT seq FROM runs WHERE ${inTraces}`
  const conversations = all<{ seq: number }>(
    database,
    `SELECT DISTINCT conversation AS seq FROM turns WHERE run_seq IN (${runsOf})`,
    given,
  )
  for (const sql of [
    `UPDATE labels SET note = '' WHERE run_id IN (SELECT id FROM runs WHERE ${inTraces})`,
    `DELETE FROM run_texts WHERE rowid IN (${runsOf})`,
    `DELETE FROM runs WHERE ${inTraces}`,
    `DELETE FROM content WHERE ${inTraces}`,
    `DELETE FROM stored WHERE ${inTraces}`,
    `DELETE FROM said WHERE ${inTraces}`,
  ])
    execute(database, sql, given)
  const seqs = JSON.stringify(conversations.map(({ seq }) => seq))
  const inConversations = '(SELECT value FROM json_each(?))'
  execute(database, `DELETE FROM conversation_scores WHERE conversation IN ${inConversations}`, seqs)
  execute(
    database,
    `DELETE FROM conversations WHERE seq IN ${inConversations} AND seq NOT IN (SELECT conversation FROM turns)`,
    seqs,
  )
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

import { TURN_COUNT } from './conversations.ts'
import { all } from './page-database.ts'
import { matchOf, wordsOf } from './run-list.ts'
import type { ListedScore } from './run-list.ts'

/** Which conversations to list. Absent filters exclude nothing. */
export interface ConversationListFilter {
  /** The agent of its first run. */
  readonly agent?: string | undefined
  /** Words of one of its runs. */
  readonly text?: string | undefined
  readonly scorer?: string | undefined
  /** Needs a scorer. */
  readonly label?: 'pass' | 'fail' | undefined
  /** When its latest run was settled, in milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  /** `newest` starts with the latest run. `worst` is by the scorer, if there is one. @default 'worst' */
  readonly sort?: 'worst' | 'newest' | undefined
  /** Where the previous page ended. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** A conversation in the list. */
export interface ConversationRow {
  readonly key: string
  readonly id: string
  readonly service: string
  readonly agent: string
  readonly turns: number
  /** What the user said first. */
  readonly question: string
  /** The last answer. */
  readonly answer: string
  /** The status of the last run. */
  readonly status: string
  /** When the last run ended. */
  readonly end_ms: number
  readonly scores: readonly ListedScore[]
}

/** A page of the list. */
export interface ConversationPage {
  readonly conversations: readonly ConversationRow[]
  /** Where the next page starts; `undefined` on the last one. */
  readonly next: string | undefined
}

const PAGE = 50

/** One page of conversations. A page starts where the previous one ended. */
export function listConversations(database: DatabaseSync, filter: ConversationListFilter): ConversationPage {
  const limit = Math.min(Math.max(1, filter.limit ?? PAGE), 200)
  const { scorer } = filter
  const place = filter.sort === 'newest' ? '-c.latest_ms' : scorer === undefined ? 'c.place' : 'coalesce(s.position, 2)'
  const { sql, values } = conditions(filter, place)
  const source =
    scorer === undefined
      ? 'conversations c'
      : 'conversation_scores s JOIN conversations c ON c.seq = s.conversation AND s.scorer = ?'
  const rows = all<Omit<ConversationRow, 'scores'> & { seq: number; place: number }>(
    database,
    `SELECT page.*, ${TURN_COUNT} AS turns, first.question, last.answer, last.status, last.end_ms
     FROM (SELECT c.seq, c.key, c.id, c.service, c.agent, ${place} AS place FROM ${source}
           WHERE ${sql} ORDER BY place, c.seq DESC LIMIT ?) page
     CROSS JOIN conversations c ON c.seq = page.seq
     JOIN runs first ON first.seq = (SELECT run_seq FROM turns WHERE conversation = page.seq ORDER BY start_ms, run_seq LIMIT 1)
     JOIN runs last ON last.seq = (SELECT run_seq FROM turns WHERE conversation = page.seq ORDER BY start_ms DESC, run_seq DESC LIMIT 1)
     ORDER BY page.place, page.seq DESC`,
    ...(scorer === undefined ? [] : [scorer]),
    ...values,
    limit + 1,
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const scores = scoresOf(
    database,
    shown.map(({ seq }) => seq),
  )
  return {
    conversations: shown.map(({ seq, place: _place, ...row }) => ({ ...row, scores: scores.get(seq) ?? [] })),
    next: rows.length > limit && last !== undefined ? `${last.place}~${last.seq}` : undefined,
  }
}

function conditions(
  filter: ConversationListFilter,
  place: string,
): { readonly sql: string; readonly values: readonly SQLInputValue[] } {
  const found: { readonly sql: string; readonly values: readonly SQLInputValue[] }[] = []
  const add = (sql: string, ...values: SQLInputValue[]) => found.push({ sql, values })
  if (filter.agent !== undefined) add('c.agent = ?', filter.agent)
  if (filter.fromMs !== undefined) add('c.latest_ms >= ?', filter.fromMs)
  if (filter.scorer !== undefined && filter.label !== undefined) add('s.label = ?', filter.label)
  const words = wordsOf(filter.text)
  if (words.length > 0) {
    add(
      `c.seq IN (SELECT conversation FROM turns WHERE run_seq IN (SELECT rowid FROM run_texts WHERE run_texts MATCH ?))`,
      matchOf(words),
    )
  }
  if (filter.after !== undefined) {
    const [latest, seq] = filter.after.split('~')
    add(`(${place} > ? OR (${place} = ? AND c.seq < ?))`, Number(latest), Number(latest), Number(seq))
  }
  return {
    sql: found.length === 0 ? '1' : found.map(({ sql }) => sql).join(' AND '),
    values: found.flatMap(({ values }) => values),
  }
}

function scoresOf(database: DatabaseSync, seqs: readonly number[]): Map<number, ListedScore[]> {
  const rows = all<ListedScore & { conversation: number }>(
    database,
    `SELECT conversation, scorer, status, reason, value, position, label, cost_usd FROM conversation_scores
     WHERE conversation IN (SELECT value FROM json_each(?)) ORDER BY scorer`,
    JSON.stringify(seqs),
  )
  return Map.groupBy(rows, ({ conversation }) => conversation)
}

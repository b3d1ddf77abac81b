import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

import { TURN_COUNT } from './conversations.ts'
import { all } from './page-database.ts'
import type { ListedScore } from './run-list.ts'
import { conversationConditions } from './run-filter.ts'
import type { SqlCondition, RunChoice } from './run-filter.ts'

/** Which conversations to list. Absent filters exclude nothing. */
export interface ConversationListFilter extends RunChoice {
  /** The agent of its first run. */
  readonly agent?: string | undefined
  readonly scorer?: string | undefined
  /** Needs a scorer. */
  readonly label?: 'pass' | 'fail' | undefined
  /** When its latest run ended, in milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
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
  const choice = chosenBy(filter)
  const { sql, values } = conditions(filter, choice)
  const rows = all<Omit<ConversationRow, 'scores'> & { seq: number; place: number }>(
    database,
    `SELECT c.seq, page.place, c.key, c.id, c.service, c.agent, ${TURN_COUNT} AS turns, first.question, last.answer, last.status, last.end_ms
     FROM (SELECT ${choice.seq} AS seq, ${choice.place} AS place FROM ${choice.source}
           WHERE ${sql} ORDER BY ${choice.order} LIMIT ?) page
     CROSS JOIN conversations c ON c.seq = page.seq
     JOIN runs first ON first.seq = (SELECT run_seq FROM turns WHERE conversation = page.seq ORDER BY start_ms, run_seq LIMIT 1)
     JOIN runs last ON last.seq = (SELECT run_seq FROM turns WHERE conversation = page.seq ORDER BY start_ms DESC, run_seq DESC LIMIT 1)
     ORDER BY ${choice.isNewest ? 'page.place DESC' : 'page.place'}, page.seq DESC`,
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

/** The table and the columns that select conversations. Each filter is a column of one index, in the order of the list. */
interface Choice {
  readonly source: 'conversations' | 'conversation_scores'
  readonly seq: 'seq' | 'conversation'
  /** What the list is ordered by. */
  readonly place: string
  readonly time: 'latest_ms' | 'time_ms'
  readonly order: string
  readonly isNewest: boolean
}

function chosenBy({ scorer, sort }: ConversationListFilter): Choice {
  const isNewest = sort === 'newest'
  const choice =
    scorer === undefined
      ? ({ source: 'conversations', seq: 'seq', time: 'latest_ms', worst: 'place' } as const)
      : ({ source: 'conversation_scores', seq: 'conversation', time: 'time_ms', worst: 'position' } as const)
  const place = isNewest ? choice.time : choice.worst
  return { ...choice, place, isNewest, order: `${place}${isNewest ? ' DESC' : ''}, ${choice.seq} DESC` }
}

function conditions(filter: ConversationListFilter, { seq, place, time, isNewest }: Choice): SqlCondition {
  const { scorer, label, agent, fromMs, toMs, after } = filter
  const found: SqlCondition[] = [...conversationConditions(filter, seq)]
  const add = (sql: string, ...values: SQLInputValue[]) => found.push({ sql, values })
  if (scorer !== undefined) {
    add('scorer = ?', scorer)
    if (label !== undefined) add('label = ?', label)
    if (!isNewest) add('position IS NOT NULL')
  }
  if (agent !== undefined) add('agent = ?', agent)
  if (fromMs !== undefined) add(`${time} >= ?`, fromMs)
  if (toMs !== undefined) add(`${time} < ?`, toMs)
  if (after !== undefined) {
    const [last, lastSeq] = after.split('~').map(Number)
    const further = isNewest ? '<' : '>'
    add(`${place} ${further}= ? AND (${place} ${further} ? OR ${seq} < ?)`, last ?? 0, last ?? 0, lastSeq ?? 0)
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

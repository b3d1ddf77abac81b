import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

import { all } from './page-database.ts'

/** Which runs are listed. What is absent leaves none out. */
export interface RunFilter {
  readonly agent?: string | undefined
  readonly status?: string | undefined
  readonly text?: string | undefined
  readonly scorer?: string | undefined
  /** `pass`, `fail`, or `none` for runs that the scorer did not score. Needs a scorer. */
  readonly label?: string | undefined
  /** Position of the score in its range, 0 to 1, higher is better. Needs a scorer. */
  readonly minScore?: number | undefined
  readonly maxScore?: number | undefined
  readonly version?: string | undefined
  readonly model?: string | undefined
  /** When the run was settled: milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** `worst` begins with the lowest score of the scorer. @default 'newest' */
  readonly sort?: 'newest' | 'worst' | undefined
  /** Where the page before ended. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** A run in the list. */
export interface ListedRun {
  readonly seq: number
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly agent: string
  readonly agent_version: string
  readonly service: string
  readonly model: string
  readonly status: string
  readonly question: string
  readonly answer: string
  readonly start_ms: number
  readonly end_ms: number
  readonly revision: number
  readonly is_complete: number
  readonly tool_calls: number
  readonly failed_tool_calls: number
  readonly input_tokens: number | null
  readonly output_tokens: number | null
  readonly scores: readonly ListedScore[]
}

/** A score as a mark in the list. */
export interface ListedScore {
  readonly scorer: string
  readonly status: string
  readonly reason: string | null
  readonly value: number | null
  readonly position: number | null
  readonly label: string | null
  readonly cost_usd: number | null
}

const PAGE = 50

interface Where {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

/** One page of runs. Pages are found by where the one before ended, so that a later page takes no longer than the first. */
export function listRuns(
  database: DatabaseSync,
  filter: RunFilter,
): { readonly runs: readonly ListedRun[]; readonly next: string | undefined } {
  const limit = Math.min(Math.max(1, filter.limit ?? PAGE), 200)
  const isWorst = filter.sort === 'worst' && filter.scorer !== undefined
  const where = conditions(filter, isWorst)
  const clause = where.map(({ sql }) => sql).join(' AND ')
  const values = where.flatMap(({ values: each }) => each)
  const rows = all<Omit<ListedRun, 'scores'> & { place: number | null }>(
    database,
    `SELECT r.seq, r.id, r.trace_id, r.parent_id, r.agent, r.agent_version, r.service, r.model, r.status, r.question,
       r.answer, r.start_ms, r.end_ms, r.revision, r.is_complete, r.tool_calls, r.failed_tool_calls, r.input_tokens,
       r.output_tokens, ${isWorst ? 's.position' : 'NULL'} AS place
     FROM ${sourceOf(filter)}
     WHERE ${clause === '' ? '1' : clause}
     ORDER BY ${isWorst ? 's.position, s.run_seq' : `${seqOf(filter)} DESC`} LIMIT ?`,
    ...values,
    limit + 1,
  )
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const scores = scoresOf(database, shown)
  return {
    runs: shown.map(({ place: _place, ...row }) => ({ ...row, scores: scores.get(row.seq) ?? [] })),
    next: rows.length > limit && last !== undefined ? `${isWorst ? `${last.place}~` : ''}${last.seq}` : undefined,
  }
}

/** The table that leaves out most is read first; SQLite would have to guess. */
function sourceOf({ scorer, text }: RunFilter): string {
  if (text !== undefined && text.trim() !== '') {
    return `run_texts CROSS JOIN runs r ON r.seq = run_texts.rowid${scorer === undefined ? '' : ' CROSS JOIN scores s ON s.run_seq = r.seq'}`
  }
  return scorer === undefined ? 'runs r' : 'scores s CROSS JOIN runs r ON r.seq = s.run_seq'
}

/** The place of a run in the list, in the words of the table that is read first. */
function seqOf({ scorer, text }: RunFilter): string {
  if (text !== undefined && text.trim() !== '') return 'run_texts.rowid'
  return scorer === undefined ? 'r.seq' : 's.run_seq'
}

function conditions(filter: RunFilter, isWorst: boolean): Where[] {
  const found: Where[] = []
  const add = (sql: string, ...values: SQLInputValue[]) => found.push({ sql, values })
  const { text, scorer, label, minScore, maxScore } = filter
  if (text !== undefined && text.trim() !== '') add('run_texts MATCH ?', matchOf(text))
  if (scorer !== undefined) {
    add('s.scorer = ?', scorer)
    if (label === 'none') add('s.label IS NULL')
    else if (label !== undefined) add('s.label = ?', label)
    if (minScore !== undefined) add('s.position >= ?', minScore)
    if (maxScore !== undefined) add('s.position <= ?', maxScore)
    if (isWorst) add('s.position IS NOT NULL')
    if (filter.version !== undefined) add('s.version = ?', filter.version)
  }
  // Without a choice of agent the list shows whole conversations; agents that others started are in them.
  if (filter.agent === undefined) add('r.parent_id IS NULL')
  else add('r.agent = ?', filter.agent)
  if (filter.status !== undefined) add('r.status = ?', filter.status)
  if (filter.model !== undefined) add('r.model = ?', filter.model)
  if (filter.fromMs !== undefined) {
    // Runs are settled in the order of their places: the first one in time bounds all.
    add('r.seq >= (SELECT seq FROM runs WHERE settled_ms >= ? ORDER BY settled_ms LIMIT 1)', filter.fromMs)
    add('r.settled_ms >= ?', filter.fromMs)
  }
  if (filter.toMs !== undefined) add('r.settled_ms < ?', filter.toMs)
  if (filter.after !== undefined) {
    const [place, seq] = filter.after.includes('~') ? filter.after.split('~') : [undefined, filter.after]
    if (isWorst) add('(s.position, s.run_seq) > (?, ?)', Number(place), Number(seq))
    else add(`${seqOf(filter)} < ?`, Number(seq))
  }
  return found
}

/** Every word must be in the text; the last may have been typed only in part. FTS operators mean nothing here. */
function matchOf(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== '')
  return words.map((word, index) => `"${word.replaceAll('"', '""')}"${index === words.length - 1 ? '*' : ''}`).join(' ')
}

function scoresOf(database: DatabaseSync, rows: readonly { readonly seq: number }[]): Map<number, ListedScore[]> {
  const found = all<ListedScore & { run_seq: number }>(
    database,
    `SELECT run_seq, scorer, status, reason, value, position, label, cost_usd FROM scores
     WHERE run_seq IN (SELECT value FROM json_each(?)) ORDER BY scorer`,
    JSON.stringify(rows.map(({ seq }) => seq)),
  )
  return Map.groupBy(found, ({ run_seq: seq }) => seq)
}

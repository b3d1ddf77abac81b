import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

import type { WorkSteps } from 'spanscore/engine'

import { all, first } from './page-database.ts'
import { runConditions } from './run-filter.ts'
import type { SqlCondition, RunChoice } from './run-filter.ts'
import { countWithheld, shownScores, WITHHELD_RUNS, withheldOfRuns } from './withheld.ts'
import type { Viewer } from './page-database.ts'

/** Which runs to list. Absent filters exclude nothing. */
export interface RunListFilter extends RunChoice {
  readonly agent?: string | undefined
  readonly agentVersion?: string | undefined
  readonly status?: string | undefined
  /** What users say of the run. */
  readonly feedback?: 'any' | 'disliked' | 'liked' | 'commented' | undefined
  readonly scorer?: string | undefined
  /** `pass`, `fail`, or `none` for runs that the scorer did not score. Needs a scorer. */
  readonly label?: string | undefined
  /** Position of the score in its range, 0 to 1; higher is better. Needs a scorer. */
  readonly minScore?: number | undefined
  readonly maxScore?: number | undefined
  readonly version?: string | undefined
  readonly model?: string | undefined
  /** When the run ended, in milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /**
   * `newest` starts with the run that arrived last, whenever it ended. `worst` starts with the lowest score of the scorer; without one, with
   * the runs that most scorers fail, and has only runs that fail. `longest` and `dearest` start with the largest value. @default 'newest'
   */
  readonly sort?: 'newest' | 'worst' | 'longest' | 'dearest' | undefined
  /** Where the previous page ended. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
  /** The viewer: scores that this person should label are withheld. */
  readonly labeller?: string | undefined
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
  /** The cost of the run's own model calls at list prices; `null` if unknown. */
  readonly cost_usd: number | null
  readonly scores: readonly ListedScore[]
  /** What its users say; not shown to people who have yet to label it. */
  readonly opinions: readonly Opinion[]
}

/** A user's opinion of a run. */
export interface Opinion {
  readonly opinion: 'disliked' | 'liked' | 'rated'
  /** What was asked, such as `stars`. */
  readonly name: string
  readonly value: number | null
  readonly comment: string | null
}

/** A score as a mark in the list. */
export interface ListedScore {
  readonly scorer: string
  /** `scored`, `skipped` or `failed`; `withheld` until the viewer has labelled it. */
  readonly status: string
  readonly reason: string | null
  readonly value: number | null
  readonly position: number | null
  readonly label: string | null
  readonly cost_usd: number | null
}

const PAGE = 50

/** Counting ends here. */
export const MAX_COUNTED = 10_000

/** A page of the list. */
export interface RunPage {
  readonly runs: readonly ListedRun[]
  /** Where the next page starts; `undefined` on the last one. */
  readonly next: string | undefined
  /** How many runs the filters select, at most `MAX_COUNTED`; `undefined` on later pages. */
  readonly total: number | undefined
  /** Withheld scores that the filters select. Their runs are listed only without a filter on this scorer. */
  readonly withheld: number
}

/**
 * One page of runs. A page starts where the previous one ended, so later pages take no longer than the first. Each step is one query.
 *
 * @param perStep how many runs are read in a step if no index has the order of the list
 */
export function* listRuns(database: DatabaseSync, filter: RunListFilter, perStep = 25_000): WorkSteps<RunPage> {
  const viewer = { viewer: filter.labeller ?? '' }
  const limit = Math.min(Math.max(1, filter.limit ?? PAGE), 200)
  const chosen = chosenBy(filter)
  const where = conditions(filter, chosen)
  const rows = chosen.isOrdered
    ? rowsBy(database, chosen, where, viewer, limit + 1)
    : yield* sortedRows(database, chosen, where, viewer, limit + 1, perStep)
  yield
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const scores = marksOf(database, shown, viewer)
  const opinions = opinionsOf(
    database,
    shown.flatMap((row) => (row.parent_id === null ? [row.trace_id] : [])),
  )
  yield
  const total = filter.after === undefined ? countRunsOf(database, chosen.source, where, viewer) : undefined
  yield
  return {
    runs: shown.map(({ at_place: _place, ...row }) => ({
      ...row,
      scores: scores.get(row.seq) ?? [],
      opinions:
        scores.get(row.seq)?.some(({ status }) => status === 'withheld') === true
          ? []
          : (opinions.get(row.trace_id) ?? []),
    })),
    next:
      rows.length > limit && last !== undefined
        ? `${chosen.place === undefined ? '' : `${last.at_place}~`}${last.seq}`
        : undefined,
    total,
    withheld: filter.scorer === undefined ? 0 : countLeftOut(database, filter, chosen),
  }
}

function countRunsOf(database: DatabaseSync, source: string, where: readonly SqlCondition[], viewer: Viewer): number {
  const clause = where.map(({ sql }) => sql).join(' AND ')
  const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM ${source} WHERE ${clause === '' ? '1' : clause} LIMIT ${MAX_COUNTED})`
  return first<{ n: number }>(database, sql, viewer, ...where.flatMap(({ values }) => values))?.n ?? 0
}

type Row = Omit<ListedRun, 'scores' | 'opinions'> & { readonly at_place: number | null }

/** The first runs of all, from the first runs of each part. */
function* sortedRows(
  database: DatabaseSync,
  chosen: Choice,
  where: readonly SqlCondition[],
  viewer: Viewer,
  limit: number,
  perStep: number,
): WorkSteps<readonly Row[]> {
  const range = first<{ low: number | null; high: number | null }>(
    database,
    'SELECT (SELECT min(seq) FROM runs) AS low, (SELECT max(seq) FROM runs) AS high',
  )
  let rows: readonly Row[] = []
  for (let from = range?.low ?? 1; from <= (range?.high ?? 0); from += perStep) {
    const part = { sql: `${chosen.seq} >= ? AND ${chosen.seq} < ?`, values: [from, from + perStep] }
    rows = [...rows, ...rowsBy(database, chosen, [part, ...where], viewer, limit)]
      .toSorted((left, right) => (left.at_place ?? 0) - (right.at_place ?? 0) || right.seq - left.seq)
      .slice(0, limit)
    yield
  }
  return rows
}

/** An index determines the runs of the page before they are looked up. */
function rowsBy(
  database: DatabaseSync,
  { source, seq, place }: Choice,
  where: readonly SqlCondition[],
  viewer: Viewer,
  limit: number,
): readonly Row[] {
  const order = place === undefined ? 'at_seq DESC' : 'at_place, at_seq DESC'
  const clause = where.map(({ sql }) => sql).join(' AND ')
  return all<Row>(
    database,
    `SELECT r.seq, r.id, r.trace_id, r.parent_id, r.agent, r.agent_version, r.service, r.model, r.status, r.question,
       r.answer, r.start_ms, r.end_ms, r.revision, r.is_complete, r.tool_calls, r.failed_tool_calls, r.input_tokens,
       r.output_tokens, r.cost_usd, page.at_place
     FROM (SELECT ${seq} AS at_seq, ${place ?? 'NULL'} AS at_place FROM ${source}
           WHERE ${clause === '' ? '1' : clause} ORDER BY ${order} LIMIT ?) page
     CROSS JOIN runs r ON r.seq = page.at_seq ORDER BY ${order}`,
    viewer,
    ...where.flatMap(({ values }) => values),
    limit,
  )
}

/** How many withheld scores the list would contain otherwise. */
function countLeftOut(database: DatabaseSync, filter: RunListFilter, chosen: Choice): number {
  const open = { ...filter, label: undefined, minScore: undefined, maxScore: undefined, after: undefined }
  const where = conditions(open, { ...chosen, columns: 's', place: 's.position', seq: 's.run_seq', hasSizes: false })
  return countWithheld(database, {
    sql: where.map(({ sql }) => sql).join(' AND '),
    values: where.flatMap(({ values }) => values),
    viewer: { viewer: filter.labeller ?? '' },
  })
}

/** The tables and the columns that select runs. Each filter is a column of one index, in the order of the list. */
interface Choice {
  /** The tables with the index to use, because SQLite would have to guess. */
  readonly source: string
  /** The table with the filters' columns. */
  readonly columns: 's' | 'r'
  /** The position of a run, by the table that is read first. */
  readonly seq: string
  /** What the list is ordered by, the least first; `undefined` for the last arrived first. */
  readonly place: string | undefined
  /** Whether the index has the order of the list. */
  readonly isOrdered: boolean
  /** Whether duration and cost are read from an index, too. */
  readonly hasSizes: boolean
}

function chosenBy({ scorer, sort, agent }: RunListFilter): Choice {
  const size = sort === 'longest' ? '-(r.end_ms - r.start_ms)' : sort === 'dearest' ? '-r.cost_usd' : undefined
  if (scorer !== undefined) {
    const isWorst = sort === 'worst'
    const scores = `${shownScores(isWorst ? 'scores_worst' : 'scores_listed')} s`
    return {
      source: size === undefined ? scores : `${scores} CROSS JOIN runs r ON r.seq = s.run_seq`,
      columns: 's',
      seq: 's.run_seq',
      place: isWorst ? 's.position' : size,
      isOrdered: size === undefined,
      hasSizes: false,
    }
  }
  if (sort === 'worst') {
    const source = `(SELECT run_seq, is_nested, agent, run_status, model, time_ms, -count(*) AS place FROM ${shownScores('scores_failing')}
      WHERE label = 'fail' GROUP BY run_seq) s`
    return { source, columns: 's', seq: 's.run_seq', place: 's.place', isOrdered: false, hasSizes: false }
  }
  const isOrdered = size === undefined
  const index = agent === undefined || !isOrdered ? 'runs_listed' : 'runs_of_agent'
  return {
    source: `runs r INDEXED BY ${index}`,
    columns: 'r',
    seq: 'r.seq',
    place: size,
    isOrdered,
    hasSizes: !isOrdered,
  }
}

/** Events of users by what they say. Others have no opinion. */
const OPINIONS = {
  any: "opinion <> ''",
  disliked: "opinion = 'disliked'",
  liked: "opinion = 'liked'",
  commented: "opinion <> '' AND has_comment = 1",
} as const

function conditions(filter: RunListFilter, { columns, seq, place, hasSizes }: Choice): SqlCondition[] {
  const found: SqlCondition[] = []
  const add = (sql: string, ...values: SQLInputValue[]) => found.push({ sql, values })
  const { scorer, label, minScore, maxScore } = filter
  if (scorer !== undefined) {
    add('s.scorer = ?', scorer)
    if (label === 'none') add('s.label IS NULL')
    else if (label !== undefined) add('s.label = ?', label)
    if (minScore !== undefined) add('s.position >= ?', minScore)
    if (maxScore !== undefined) add('s.position <= ?', maxScore)
    if (filter.version !== undefined) add('s.version = ?', filter.version)
  }
  const { agentVersion, feedback } = filter
  if (place !== undefined) add(`${place} IS NOT NULL`)
  if (feedback !== undefined) {
    add(`${seq} IN (SELECT seq FROM runs WHERE trace_id IN (SELECT trace_id FROM said WHERE ${OPINIONS[feedback]}))`)
    add(`${seq} NOT IN (${WITHHELD_RUNS})`)
  }
  if (agentVersion !== undefined) add(`${seq} IN (SELECT seq FROM runs WHERE agent_version = ?)`, agentVersion)
  // Without an agent filter, the list shows whole conversations, which include nested agents.
  if (filter.agent === undefined) add(columns === 's' ? 's.is_nested = 0' : 'r.parent_id IS NULL')
  else add(`${columns}.agent = ?`, filter.agent)
  if (filter.status !== undefined) add(columns === 's' ? 's.run_status = ?' : 'r.status = ?', filter.status)
  if (filter.model !== undefined) add(`${columns}.model = ?`, filter.model)
  // Runs arrive in the order of their positions, and none before it ended.
  if (filter.fromMs !== undefined) {
    add(`${seq} >= (SELECT seq FROM runs WHERE settled_ms >= ? ORDER BY settled_ms LIMIT 1)`, filter.fromMs)
    add(`${columns}.time_ms >= ?`, filter.fromMs)
  }
  if (filter.toMs !== undefined) add(`${columns}.time_ms < ?`, filter.toMs)
  if (filter.after !== undefined) {
    const [last, at] = filter.after.split('~').toReversed().map(Number)
    if (place === undefined) add(`${seq} < ?`, last ?? 0)
    else add(`${place} >= ? AND (${place} > ? OR ${seq} < ?)`, at ?? 0, at ?? 0, last ?? 0)
  }
  // SQLite tests them in this order: where the index alone excludes all runs, the rest is never read.
  if (!hasSizes) return [...found, ...runConditions(filter, seq)]
  const { minSeconds, minUsd, ...others } = filter
  if (minSeconds !== undefined) add('r.end_ms - r.start_ms >= ?', minSeconds * 1000)
  if (minUsd !== undefined) add('r.cost_usd >= ?', minUsd)
  return [...found, ...runConditions(others, seq)]
}

/** The scores of some runs as marks, by `seq`; those that the viewer should label say so. */
export function marksOf(
  database: DatabaseSync,
  rows: readonly { readonly seq: number }[],
  viewer: Viewer,
): Map<number, ListedScore[]> {
  const seqs = rows.map(({ seq }) => seq)
  const shown = all<ListedScore & { run_seq: number }>(
    database,
    `SELECT s.run_seq, s.scorer, s.status, s.reason, s.value, s.position, s.label, s.cost_usd
     FROM ${shownScores()} s WHERE s.run_seq IN (SELECT value FROM json_each(?)) ORDER BY s.scorer`,
    viewer,
    JSON.stringify(seqs),
  )
  const withheld = withheldOfRuns(database, seqs, viewer).map(({ runSeq, scorer }) => ({
    run_seq: runSeq,
    scorer,
    ...WITHHELD_MARK,
  }))
  return Map.groupBy(
    [...shown, ...withheld].toSorted((left, right) => (left.scorer < right.scorer ? -1 : 1)),
    ({ run_seq: seq }) => seq,
  )
}

/** What users say of traces, whose runs that no other run started they mean. */
export function opinionsOf(
  database: DatabaseSync,
  traceIds: readonly string[],
): ReadonlyMap<string, readonly Opinion[]> {
  const found = all<Opinion & { trace_id: string }>(
    database,
    `SELECT trace_id, opinion, json_extract(log, '$.attributes."gen_ai.evaluation.name"') AS name,
       json_extract(log, '$.attributes."gen_ai.evaluation.score.value"') AS value,
       json_extract(log, '$.attributes."gen_ai.evaluation.explanation"') AS comment
     FROM said WHERE trace_id IN (SELECT value FROM json_each(?)) AND opinion <> '' ORDER BY time_ms`,
    JSON.stringify(traceIds),
  )
  const byTrace = Map.groupBy(found, (row) => row.trace_id)
  return new Map([...byTrace].map(([id, own]) => [id, own.map(({ trace_id: _trace, ...opinion }) => opinion)]))
}

/** The visible part of a withheld score. */
const WITHHELD_MARK = {
  status: 'withheld',
  reason: null,
  value: null,
  position: null,
  label: null,
  cost_usd: null,
} as const

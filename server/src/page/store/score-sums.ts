import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

import { weightedMean } from 'spanscore/engine'
import type { WeightedMean, WeightedSums } from 'spanscore/engine'

import { all, first } from './page-database.ts'
import { countWithheld, shownScores } from './withheld.ts'
import type { Viewer } from './page-database.ts'

/** Which scores to summarise. */
export interface ScoreFilter {
  readonly scorer: string
  readonly agent?: string | undefined
  readonly version?: string | undefined
  readonly agentVersion?: string | undefined
  readonly model?: string | undefined
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** The viewer: scores that this person should label are excluded. */
  readonly labeller?: string | undefined
}

/** How to group scores. */
export type Dimension = 'agent' | 'version' | 'agent_version' | 'model'

export const DIMENSIONS: ReadonlySet<string> = new Set<Dimension>(['agent', 'version', 'agent_version', 'model'])

/** The summary of some scores. Scores are positions in the scorer's range: 0 to 1, higher is better. */
export interface ScoreSummary {
  /** Scored runs. */
  readonly runs: number
  /** `undefined` if no score has a weight. */
  readonly mean: WeightedMean | undefined
  /** Weighted share of failing runs. */
  readonly failing: number | undefined
}

/** A group's scores over time. */
export interface ScoreSeries {
  readonly group: string
  readonly total: ScoreSummary
  readonly points: readonly (ScoreSummary & { readonly timeMs: number })[]
  /** Weighted shares of ten parts of the range, lowest first. */
  readonly distribution: readonly number[]
}

type SumsRow = WeightedSums & { readonly runs: number; readonly failing: number }

/** The same sums as in the service's metrics, so that page and alerts agree. */
const SUMS = `
  sum(weight) AS w, sum(weight * position) AS wy, sum(weight * position * position) AS wy2, sum(weight * weight) AS w2,
  sum(weight * weight * position) AS w2y, sum(weight * weight * position * position) AS w2y2,
  count(*) AS runs, sum(CASE label WHEN 'fail' THEN weight ELSE 0 END) AS failing`

/** The scores of a scorer, as a table to select from. A scorer scores conversations, or runs. */
export function scoresToSum(database: DatabaseSync, { scorer }: Pick<ScoreFilter, 'scorer'>): string {
  const ofConversation = first(database, 'SELECT 1 AS found FROM conversation_scores WHERE scorer = ? LIMIT 1', scorer)
  return ofConversation === undefined ? shownScores() : 'conversation_scores'
}

/** Maximum number of groups to show; those with most runs come first. */
const MAX_GROUPS = 8

/** Summarises scores, in total and over time. */
export function summariseScores(
  database: DatabaseSync,
  filter: ScoreFilter,
  by: Dimension | undefined,
  bucketMs: number,
): { readonly all: ScoreSummary; readonly series: readonly ScoreSeries[]; readonly withheld: number } {
  const { sql, values, viewer } = where(filter)
  const group = by ?? "''"
  const shown = scoresToSum(database, filter)
  const groups = all<SumsRow & { group_name: string }>(
    database,
    `SELECT ${group} AS group_name, ${SUMS} FROM ${shown} WHERE ${sql} GROUP BY 1 ORDER BY runs DESC LIMIT ${MAX_GROUPS}`,
    viewer,
    ...values,
  )
  const points = all<SumsRow & { group_name: string; bucket: number }>(
    database,
    `SELECT ${group} AS group_name, CAST(settled_ms / ? AS INTEGER) AS bucket, ${SUMS} FROM ${shown} WHERE ${sql} GROUP BY 1, 2 ORDER BY 2`,
    viewer,
    bucketMs,
    ...values,
  )
  const tenths = all<{ group_name: string; tenth: number; w: number }>(
    database,
    `SELECT ${group} AS group_name, min(9, CAST(position * 10 AS INTEGER)) AS tenth, sum(weight) AS w FROM ${shown} WHERE ${sql} GROUP BY 1, 2`,
    viewer,
    ...values,
  )
  const series = groups.map((each) => ({
    group: each.group_name,
    total: toSummary(each),
    points: points
      .filter((point) => point.group_name === each.group_name)
      .map((point) => ({ timeMs: point.bucket * bucketMs, ...toSummary(point) })),
    distribution: Array.from({ length: 10 }, (_unused, tenth) => {
      const found = tenths.find((row) => row.group_name === each.group_name && row.tenth === tenth)
      return each.w > 0 ? (found?.w ?? 0) / each.w : 0
    }),
  }))
  return { all: summaryOf(database, filter), series, withheld: countWithheld(database, { sql, values, viewer }) }
}

/** Summarises scores in total. */
export function summaryOf(database: DatabaseSync, filter: ScoreFilter): ScoreSummary {
  const { sql, values, viewer } = where(filter)
  const [row] = all<SumsRow>(
    database,
    `SELECT ${SUMS} FROM ${scoresToSum(database, filter)} WHERE ${sql}`,
    viewer,
    ...values,
  )
  return row === undefined ? { runs: 0, mean: undefined, failing: undefined } : toSummary(row)
}

function toSummary(row: SumsRow): ScoreSummary {
  return {
    runs: row.runs,
    mean: row.w > 0 ? weightedMean(row) : undefined,
    failing: row.w > 0 ? row.failing / row.w : undefined,
  }
}

/** The SQL condition of a filter. A score of a run that was not drawn has no weight, and does not count. */
export function where(filter: ScoreFilter): {
  readonly sql: string
  readonly viewer: Viewer
  readonly values: readonly SQLInputValue[]
} {
  const parts: [string, SQLInputValue | undefined][] = [
    ['scorer = ?', filter.scorer],
    ['agent = ?', filter.agent],
    ['version = ?', filter.version],
    ['agent_version = ?', filter.agentVersion],
    ['model = ?', filter.model],
    ['settled_ms >= ?', filter.fromMs],
    ['settled_ms < ?', filter.toMs],
  ]
  const given = parts.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  return {
    sql: [...given.map(({ sql }) => sql), 'position IS NOT NULL', 'weight IS NOT NULL'].join(' AND '),
    viewer: { viewer: filter.labeller ?? '' },
    values: given.map(({ value }) => value),
  }
}

/** The period of a filter's scores, in milliseconds since the epoch, and their number. */
export function timeRange(
  database: DatabaseSync,
  filter: ScoreFilter,
): { readonly fromMs: number; readonly toMs: number; readonly runs: number } | undefined {
  const { sql, values, viewer } = where(filter)
  const [row] = all<{ low: number | null; high: number | null; runs: number }>(
    database,
    `SELECT min(settled_ms) AS low, max(settled_ms) AS high, count(*) AS runs FROM ${scoresToSum(database, filter)} WHERE ${sql}`,
    viewer,
    ...values,
  )
  if (row === undefined || row.low === null || row.high === null) return undefined
  return { fromMs: row.low, toMs: row.high, runs: row.runs }
}

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

import { weightedMean } from 'spanscore/engine'
import type { WeightedMean, WeightedSums, WorkSteps } from 'spanscore/engine'

import { all, first } from './page-database.ts'
import { conversationConditions, runConditions } from './run-filter.ts'
import type { SqlCondition, RunChoice } from './run-filter.ts'
import { FAILING_SUMS, failingShare } from './failing-share.ts'
import type { FailingSums } from './failing-share.ts'
import { countWithheld, shownScores } from './withheld.ts'
import type { Viewer } from './page-database.ts'

/** Which scores to summarise. */
export interface ScoreFilter extends RunChoice {
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
  /** `undefined` if no score has a place in the range of its scorer, which is unknown of scores that an application made. */
  readonly mean: WeightedMean | undefined
  /** The weighted share of failing runs; `undefined` if no score has a label. */
  readonly failing: WeightedMean | undefined
}

/** A group's scores over time. */
export interface ScoreSeries {
  readonly group: string
  readonly total: ScoreSummary
  readonly isDrawn: boolean
  /** Over time; empty if it is not drawn. */
  readonly points: readonly (ScoreSummary & { readonly timeMs: number })[]
  /** Weighted shares of ten parts of the range, lowest first. */
  readonly distribution: readonly number[]
}

/** Sums over scores: of their positions, and of their labels. */
export type SumsRow = WeightedSums & FailingSums & { readonly runs: number }

/** The same sums as in the service's metrics, so that page and alerts agree. A score without a place in a range is in no mean. */
const SUMS = `
  total(CASE WHEN position IS NOT NULL THEN weight END) AS w, total(weight * position) AS wy, total(weight * position * position) AS wy2,
  total(CASE WHEN position IS NOT NULL THEN weight * weight END) AS w2, total(weight * weight * position) AS w2y,
  total(weight * weight * position * position) AS w2y2, count(*) AS runs, ${FAILING_SUMS}`

/** Maximum number of groups that are listed. */
const MAX_GROUPS = 300

/** How many groups are drawn if none are chosen: as many as have a colour. */
const DRAWN = 4

/** Maximum number of groups that somebody may choose to be drawn. */
const MAX_DRAWN = 24

/** The sums of scores over time. */
export interface OverTime {
  readonly by: Dimension | undefined
  readonly bucketMs: number
  /** The groups to draw; the worst ones if absent. */
  readonly drawn?: readonly string[] | undefined
}

/** Summarises scores, in total and over time: all groups, the worst first, with the points of those that are drawn. Each step is one query, or part of one. */
export function* summariseScores(
  database: DatabaseSync,
  filter: ScoreFilter,
  { by, bucketMs, drawn }: OverTime,
): WorkSteps<{
  readonly all: ScoreSummary
  readonly series: readonly ScoreSeries[]
  readonly withheld: number
  readonly unscored: readonly Unscored[]
  readonly opinions: OpinionCounts | undefined
}> {
  const chosen = chosenScores(database, filter)
  const { sql, values, viewer, source } = chosen
  const sums = yield* sumsOverTime(database, chosen, by ?? "''", bucketMs)
  const groups = [...sums.groups]
    .toSorted(([, left], [, right]) => right.runs - left.runs)
    .slice(0, MAX_GROUPS)
    .map(([group, row]) => ({ group, total: toSummary(row) }))
    .toSorted((left, right) => worseFirst(left.total, right.total))
  const names = new Set((drawn ?? groups.slice(0, DRAWN).map((each) => each.group)).slice(0, MAX_DRAWN))
  const series = groups.map(({ group, total }) => ({
    group,
    total,
    isDrawn: names.has(group),
    points: names.has(group)
      ? [...(sums.points.get(group) ?? [])].map(([bucket, row]) => ({ timeMs: bucket * bucketMs, ...toSummary(row) }))
      : [],
    distribution: sharesOf(sums.tenths.get(group) ?? []),
  }))
  yield
  const unscored = all<Unscored>(
    database,
    `SELECT coalesce(reason, status) AS reason, count(*) AS runs FROM ${source} WHERE ${sql.replace('weight IS NOT NULL', 'weight IS NULL')} GROUP BY 1 ORDER BY 2 DESC LIMIT 20`,
    viewer,
    ...values,
  )
  yield
  const opinions = countOpinions(database, chosen)
  yield
  return {
    all: toSummary(addedRows([...sums.groups.values()])),
    series,
    withheld: withheldAmong(database, chosen),
    unscored,
    opinions,
  }
}

/** Runs without a score that counts, by the reason. */
export interface Unscored {
  readonly reason: string
  readonly runs: number
}

/** Those that surely fail most come first. */
function worseFirst(left: ScoreSummary, right: ScoreSummary): number {
  const failsAtLeast = ({ failing }: ScoreSummary) => failing?.interval95[0] ?? 0
  const meanOf = ({ mean }: ScoreSummary) => mean?.mean ?? 1
  return failsAtLeast(right) - failsAtLeast(left) || meanOf(left) - meanOf(right) || right.runs - left.runs
}

function sharesOf(tenths: readonly number[]): readonly number[] {
  const sum = tenths.reduce((before, weight) => before + (weight ?? 0), 0)
  return Array.from({ length: 10 }, (_unused, tenth) => (sum > 0 ? (tenths[tenth] ?? 0) / sum : 0))
}

/** How many scores one step adds up. */
const SCORES_A_STEP = 5000

/** Sums of the scores of groups: of all of them, by bucket in the order of time, and the weights of ten parts of the range. */
interface SumsOverTime {
  readonly groups: Map<string, SumsRow>
  readonly points: Map<string, Map<number, SumsRow>>
  readonly tenths: Map<string, number[]>
}

/** Reads the scores once, in the order of time. */
function* sumsOverTime(
  database: DatabaseSync,
  { sql, values, viewer, source }: ChosenScores,
  group: string,
  bucketMs: number,
): WorkSteps<SumsOverTime> {
  const sums: SumsOverTime = { groups: new Map(), points: new Map(), tenths: new Map() }
  const endSql = `SELECT time_ms AS ms FROM ${source} WHERE ${sql} AND time_ms >= ? ORDER BY time_ms LIMIT 1 OFFSET ${SCORES_A_STEP}`
  let fromMs: number | undefined = 0
  while (fromMs !== undefined) {
    const end: number | undefined = first<{ ms: number }>(database, endSql, viewer, ...values, fromMs)?.ms
    // Many may have the same time.
    const toMs: number | undefined = end === fromMs ? end + 1 : end
    const rows = all<SumsRow & { group_name: string; bucket: number; tenth: number | null }>(
      database,
      `SELECT ${group} AS group_name, CAST(time_ms / ? AS INTEGER) AS bucket, min(9, CAST(position * 10 AS INTEGER)) AS tenth, ${SUMS}
       FROM ${source} WHERE ${sql} AND time_ms >= ? AND time_ms < ? GROUP BY 1, 2, 3 ORDER BY 2`,
      viewer,
      bucketMs,
      ...values,
      fromMs,
      toMs ?? Number.MAX_VALUE,
    )
    for (const row of rows) {
      const { group_name: name, bucket, tenth } = row
      const [points, tenths] = [sums.points.get(name) ?? new Map<number, SumsRow>(), sums.tenths.get(name) ?? []]
      sums.groups.set(name, addedRows([sums.groups.get(name), row]))
      sums.points.set(name, points.set(bucket, addedRows([points.get(bucket), row])))
      if (tenth !== null) tenths[tenth] = (tenths[tenth] ?? 0) + row.w
      sums.tenths.set(name, tenths)
    }
    fromMs = toMs
    yield
  }
  return sums
}

const NO_SUMS: SumsRow = {
  runs: 0,
  w: 0,
  wy: 0,
  wy2: 0,
  w2: 0,
  w2y: 0,
  w2y2: 0,
  labelled: 0,
  labelled2: 0,
  failing: 0,
  failing2: 0,
}

function addedRows(rows: readonly (SumsRow | undefined)[]): SumsRow {
  const added = { ...NO_SUMS }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has no other keys
  for (const key of Object.keys(NO_SUMS) as (keyof SumsRow)[]) for (const row of rows) added[key] += row?.[key] ?? 0
  return added
}

/** Summarises scores in total. */
export function summaryOf(database: DatabaseSync, filter: ScoreFilter): ScoreSummary {
  const { sql, values, viewer, source } = chosenScores(database, filter)
  const [row] = all<SumsRow>(database, `SELECT ${SUMS} FROM ${source} WHERE ${sql}`, viewer, ...values)
  return row === undefined ? { runs: 0, mean: undefined, failing: undefined } : toSummary(row)
}

function toSummary(row: SumsRow): ScoreSummary {
  return {
    runs: row.runs,
    mean: row.w > 0 ? weightedMean(row) : undefined,
    failing: failingShare(row),
  }
}

/** Scores that a filter selects. */
export interface ChosenScores extends SqlCondition {
  /** The table to select them from. A scorer scores conversations, or runs. */
  readonly source: string
  readonly isOfConversations: boolean
  readonly viewer: Viewer
}

/** The scores that a filter selects. A score of a run that was not drawn has no weight, and does not count. */
export function chosenScores(database: DatabaseSync, filter: ScoreFilter): ChosenScores {
  const { scorer } = filter
  const ofConversation = first(database, 'SELECT 1 AS found FROM conversation_scores WHERE scorer = ? LIMIT 1', scorer)
  const isOfConversations = ofConversation !== undefined
  const parts: [string, SQLInputValue | undefined][] = [
    ['scorer = ?', filter.scorer],
    ['agent = ?', filter.agent],
    ['version = ?', filter.version],
    ['agent_version = ?', filter.agentVersion],
    ['model = ?', filter.model],
    ['time_ms >= ?', filter.fromMs],
    ['time_ms < ?', filter.toMs],
  ]
  const given: readonly SqlCondition[] = [
    ...parts.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, values: [value] }])),
    ...(isOfConversations ? conversationConditions(filter, 'conversation') : runConditions(filter, 'run_seq')),
  ]
  return {
    source: isOfConversations ? 'conversation_scores' : shownScores(),
    isOfConversations,
    sql: [...given.map(({ sql }) => sql), 'weight IS NOT NULL'].join(' AND '),
    viewer: { viewer: filter.labeller ?? '' },
    values: given.flatMap(({ values }) => values),
  }
}

/** How many of some scored runs users said something of, how many they dislike, and how many of these the scorer passes. */
export interface OpinionCounts {
  readonly given: number
  readonly disliked: number
  readonly passing: number
}

/** What users say of the runs of some scores; `undefined` of conversations. */
export function countOpinions(
  database: DatabaseSync,
  { source, sql, values, viewer, isOfConversations }: ChosenScores,
): OpinionCounts | undefined {
  if (isOfConversations) return undefined
  const chosen = `SELECT run_seq FROM ${source} WHERE ${sql}`
  // Few runs have an opinion, so that these are read first.
  return first<OpinionCounts>(
    database,
    `SELECT count(*) AS given, total(is_disliked) AS disliked, total(is_disliked AND seq IN (${chosen} AND label = 'pass')) AS passing FROM
       (SELECT r.seq, max(o.opinion = 'disliked') AS is_disliked FROM said o CROSS JOIN runs r ON r.trace_id = o.trace_id
        WHERE o.opinion <> '' AND r.parent_id IS NULL AND r.seq IN (${chosen}) GROUP BY r.seq)`,
    viewer,
    ...values,
    ...values,
  )
}

/** How many withheld scores the filters would select. Those of conversations are never withheld. */
export function withheldAmong(database: DatabaseSync, ...chosen: readonly ChosenScores[]): number {
  const ofRuns = chosen.filter(({ isOfConversations }) => !isOfConversations)
  const [one] = ofRuns
  if (one === undefined) return 0
  const sql = `(${ofRuns.map((each) => `(${each.sql})`).join(' OR ')})`
  return countWithheld(database, { sql, values: ofRuns.flatMap(({ values }) => values), viewer: one.viewer })
}

/** The period of a filter's scores, in milliseconds since the epoch, and their number. */
export function timeRange(
  database: DatabaseSync,
  filter: ScoreFilter,
): { readonly fromMs: number; readonly toMs: number; readonly runs: number } | undefined {
  const { sql, values, viewer, source } = chosenScores(database, filter)
  const [row] = all<{ low: number | null; high: number | null; runs: number }>(
    database,
    `SELECT min(time_ms) AS low, max(time_ms) AS high, count(*) AS runs FROM ${source} WHERE ${sql}`,
    viewer,
    ...values,
  )
  if (row === undefined || row.low === null || row.high === null) return undefined
  return { fromMs: row.low, toMs: row.high, runs: row.runs }
}

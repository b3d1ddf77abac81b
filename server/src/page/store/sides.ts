import type { DatabaseSync } from 'node:sqlite'

import { differenceOf } from './compare.ts'
import { FAILING_SUMS, failingShare } from './failing-share.ts'
import type { FailingSums } from './failing-share.ts'
import { all, first } from './page-database.ts'
import { chosenScores } from './score-sums.ts'
import type { ScoreFilter } from './score-sums.ts'

/** One side of a comparison that has scores. */
export interface Side {
  /** An agent version, a scorer version, a model, or the name of a period. */
  readonly value: string
  readonly runs: number
  /** The limits of a period, in milliseconds since the epoch. */
  readonly fromMs?: number
  readonly toMs?: number
}

/** The sides that can be compared, by what differs between them. */
export interface Sides {
  /** The agent whose versions these are: without a choice, one whose newest version surely fails more often, or the one with the latest two. */
  readonly agent: string | undefined
  /** The versions and models with the latest scores first. */
  readonly agentVersion: readonly Side[]
  readonly version: readonly Side[]
  readonly model: readonly Side[]
  /** Pairs of periods, each with the earlier one first. The pair whose smaller side has most runs comes first. */
  readonly time: readonly Side[]
}

const HOUR_MS = 3_600_000

const PERIODS = [
  { earlier: 'hour before', later: 'last hour', ms: HOUR_MS },
  { earlier: 'day before', later: 'last day', ms: 24 * HOUR_MS },
  { earlier: 'week before', later: 'last week', ms: 168 * HOUR_MS },
]

/** A side of fewer runs is compared only if somebody chooses it, or there is no other. */
const ENOUGH_RUNS = 20

/** Maximum number of versions or models to offer. */
const MAX_SIDES = 50

/** The sides that have scores of a scorer. */
export function sidesOf(database: DatabaseSync, filter: ScoreFilter, nowMs: number): Sides {
  const { sql, values, viewer, source } = chosenScores(database, filter)
  // One reading of the scores serves all three.
  const rows = all<ValuesRow>(
    database,
    `SELECT agent, agent_version AS agentVersion, version, model, count(*) AS runs, ${FAILING_SUMS} FROM ${source} WHERE ${sql}
     GROUP BY 1, 2, 3, 4 ORDER BY max(time_ms) DESC`,
    viewer,
    ...values,
  )
  const byAgent = [...Map.groupBy(rows, ({ agent }) => agent)].map(
    ([agent, own]) => [agent, valuesOf(own, 'agentVersion'), own] as const,
  )
  const withEnough = byAgent.filter(([, sides]) => sides.filter(({ runs }) => runs >= ENOUGH_RUNS).length > 1)
  const [agent, versions = []] =
    withEnough.find(([, [after, before], own]) => isSurelyWorse(own, before?.value, after?.value)) ??
    withEnough[0] ??
    byAgent.find(([, sides]) => sides.length > 1) ??
    byAgent[0] ??
    []
  return {
    agent,
    agentVersion: versions,
    version: valuesOf(rows, 'version'),
    model: valuesOf(rows, 'model'),
    time: periodsOf(database, filter, nowMs),
  }
}

interface ValuesRow extends FailingSums {
  readonly agent: string
  readonly agentVersion: string
  readonly version: string
  readonly model: string
  readonly runs: number
}

function isSurelyWorse(rows: readonly ValuesRow[], before: string | undefined, after: string | undefined): boolean {
  const [old, now] = [before, after].map((version) => {
    const own = rows.filter((row) => row.agentVersion === version)
    const sum = (key: keyof FailingSums) => own.reduce((total, row) => total + row[key], 0)
    return failingShare({
      labelled: sum('labelled'),
      labelled2: sum('labelled2'),
      failing: sum('failing'),
      failing2: sum('failing2'),
    })
  })
  return old !== undefined && now !== undefined && differenceOf(old, now).interval95[0] > 0
}

function valuesOf(rows: readonly ValuesRow[], column: 'agentVersion' | 'version' | 'model'): readonly Side[] {
  const runs = new Map<string, number>()
  for (const row of rows) runs.set(row[column], (runs.get(row[column]) ?? 0) + row.runs)
  runs.delete('')
  const sides = [...runs].slice(0, MAX_SIDES).map(([value, count]) => ({ value, runs: count }))
  // The newest one with enough runs comes first, and the one with enough before it next: of others, an interval says nothing.
  const enough = sides.filter(({ runs: count }) => count >= ENOUGH_RUNS).slice(0, 2)
  return enough.length < 2 ? sides : [...enough, ...sides.filter((side) => !enough.includes(side))]
}

function periodsOf(database: DatabaseSync, filter: ScoreFilter, nowMs: number): readonly Side[] {
  const count = (fromMs: number, toMs: number) => countOf(database, { ...filter, fromMs, toMs })
  // A minute's end keeps the limits the same for a while.
  const endMs = Math.ceil(nowMs / 60_000) * 60_000
  const pairs = PERIODS.flatMap(({ earlier, later, ms }) => {
    const middleMs = endMs - ms
    const startMs = middleMs - ms
    const before = { value: earlier, runs: count(startMs, middleMs), fromMs: startMs, toMs: middleMs }
    const after = { value: later, runs: count(middleMs, endMs), fromMs: middleMs, toMs: endMs }
    return before.runs > 0 && after.runs > 0 ? [[before, after] as const] : []
  })
  const smaller = ([before, after]: readonly [Side, Side]) => Math.min(before.runs, after.runs)
  return [...pairs.toSorted((left, right) => smaller(right) - smaller(left)).flat(), ...halvesOf(database, filter)]
}

/** The earlier and the later half of all runs, which can be compared from the second run on. */
function halvesOf(database: DatabaseSync, filter: ScoreFilter): readonly Side[] {
  const runs = countOf(database, filter)
  const { sql, values, viewer, source } = chosenScores(database, filter)
  const from = `FROM ${source} WHERE ${sql}`
  const middleMs = first<{ at: number }>(
    database,
    // Runs may end at the same moment: the later half begins after the first ones.
    `SELECT time_ms AS at ${from} AND time_ms > (SELECT min(time_ms) ${from})
     ORDER BY time_ms LIMIT 1 OFFSET max(0, ? - (SELECT count(*) ${from} AND time_ms = (SELECT min(time_ms) ${from})))`,
    viewer,
    ...values,
    ...values,
    Math.ceil(runs / 2),
    ...values,
    ...values,
  )?.at
  if (middleMs === undefined) return []
  const earlier = countOf(database, { ...filter, toMs: middleMs })
  return [
    { value: 'earlier half', runs: earlier, toMs: middleMs },
    { value: 'later half', runs: runs - earlier, fromMs: middleMs },
  ]
}

function countOf(database: DatabaseSync, filter: ScoreFilter): number {
  const { sql, values, viewer, source } = chosenScores(database, filter)
  return first<{ n: number }>(database, `SELECT count(*) AS n FROM ${source} WHERE ${sql}`, viewer, ...values)?.n ?? 0
}

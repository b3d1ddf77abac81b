import type { DatabaseSync } from 'node:sqlite'

import type { WorkSteps } from 'spanscore/engine'

import { ASKED, HOUR_MS } from './hours.ts'
import { all } from './page-database.ts'

/** A scorer that should have scored runs of agents in a period, and gave no score. */
export interface SilentScorer {
  readonly kind: 'silent-scorer'
  readonly scorer: string
  readonly agents: readonly string[]
  /** Why it gave none, by the most frequent or the latest reason; `undefined` if it was not asked, but gave scores before. */
  readonly reason: string | undefined
  /** Whether it gave scores before. */
  readonly gaveBefore: boolean
}

interface Pair {
  readonly agent: string
  readonly scorer: string
}

type Scores = Pair & { readonly hour: number; readonly runs: number }

interface Period {
  /** The first hour, and the last. */
  readonly start: number
  readonly last: number
  /** Fewer runs than this show nothing about a scorer that was not asked. */
  readonly enoughRuns: number
}

/** As many results in a row without a score show that a scorer gives none any more. */
const IN_A_ROW = 5

/** Scores of runs, and of conversations. */
const SCORES = ['scores', 'conversation_scores'] as const

/** Most pairs of an agent and a scorer that are looked at for that. */
const MOST_PAIRS = 20

/**
 * A scorer is silent about an agent if it gave no score in the period, and was asked, of which the reasons are stored, or scored enough runs of the
 * agent before, of which there are enough now; and if it gave none the last five times that it was asked. An agent and scorer is a step.
 *
 * @param agents those with runs in the period
 * @param scores how many runs each scorer scored, in the period or in hours before
 */
export function* silentScorers(
  database: DatabaseSync,
  agents: readonly { readonly agent: string; readonly runs: number }[],
  scores: readonly Scores[],
  { start, last, enoughRuns }: Period,
): WorkSteps<readonly SilentScorer[]> {
  // The most frequent reason of an agent and scorer comes first.
  const unscored = all<Pair & { readonly reason: string }>(
    database,
    `SELECT agent, scorer, reason FROM hour_unscored WHERE hour >= ? AND hour <= ? GROUP BY 1, 2, 3
     ORDER BY sum(runs) DESC, agent, scorer, reason`,
    start,
    last,
  )
  const gave = new Set(
    [
      ...scores.filter(({ hour }) => hour >= start),
      ...unscored.filter(({ reason }) => reason === ''),
      ...drawnIn(database, start, last),
    ].map(keyOf),
  )
  const runs = new Map(agents.map((each) => [each.agent, each.runs]))
  const before = scores
    .filter((row) => row.hour < start && row.runs >= enoughRuns && (runs.get(row.agent) ?? 0) >= enoughRuns)
    .map(({ agent, scorer }) => ({ agent, scorer, reason: undefined }))
  const both = new Map(unscored.filter((row) => gave.has(keyOf(row))).map((row) => [keyOf(row), row]))
  const stopped: Silence[] = []
  for (const pair of [...both.values()].slice(0, MOST_PAIRS)) {
    yield
    stopped.push(...SCORES.flatMap((table) => stoppedBy(database, table, pair, start) ?? []))
  }
  const silent = new Map<string, Silence>()
  for (const row of [...unscored, ...before]) {
    const key = keyOf(row)
    if (!gave.has(key) && !silent.has(key)) silent.set(key, { ...row, gaveBefore: row.reason === undefined })
  }
  const found = new Map<string, SilentScorer>()
  for (const { agent, scorer, reason, gaveBefore } of [...silent.values(), ...stopped]) {
    const key = JSON.stringify([scorer, reason, gaveBefore])
    const agentsOf = [...(found.get(key)?.agents ?? []), agent]
    found.set(key, { kind: 'silent-scorer', scorer, agents: agentsOf, reason, gaveBefore })
  }
  return [...found.values()]
}

type Silence = Pair & Pick<SilentScorer, 'reason' | 'gaveBefore'>

/** A scorer that gave scores in the period, and none the last times that it was asked about runs of an agent. */
function stoppedBy(
  database: DatabaseSync,
  table: (typeof SCORES)[number],
  { agent, scorer }: Pair,
  start: number,
): Silence | undefined {
  const latest = all<{ reason: string | null; status: string; time_ms: number }>(
    database,
    `SELECT reason, status, time_ms FROM ${table} WHERE scorer = ? AND agent = ? AND time_ms >= ? AND ${ASKED}
     ORDER BY time_ms DESC LIMIT ${IN_A_ROW}`,
    scorer,
    agent,
    start * HOUR_MS,
  )
  const [last] = latest
  const first = latest.at(-1)
  if (last === undefined || first === undefined || latest.length < IN_A_ROW) return undefined
  if (latest.some(({ status }) => status === 'scored')) return undefined
  const since = `SELECT 1 FROM ${table} WHERE scorer = ? AND agent = ? AND time_ms >= ? AND weight IS NOT NULL LIMIT 1`
  if (all(database, since, scorer, agent, first.time_ms).length > 0) return undefined
  return { agent, scorer, reason: last.reason ?? last.status, gaveBefore: true }
}

/** The scorers of verdicts that somebody has yet to label. They gave scores, whatever these say. */
function drawnIn(database: DatabaseSync, start: number, last: number): readonly Pair[] {
  return all<Pair>(
    database,
    `SELECT DISTINCT r.agent, d.scorer FROM drawn d JOIN runs r ON r.id = d.run_id
     WHERE d.seen_ms IS NULL AND r.time_ms >= ? AND r.time_ms < ?`,
    start * HOUR_MS,
    (last + 1) * HOUR_MS,
  )
}

function keyOf({ agent, scorer }: Pair): string {
  return JSON.stringify([agent, scorer])
}

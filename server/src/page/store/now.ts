import type { DatabaseSync } from 'node:sqlite'

import type { WeightedMean, WorkSteps } from 'spanscore/engine'

import { differenceOf, FEW_RUNS } from './compare.ts'
import type { ChangeState } from './compare.ts'
import { failingShare } from './failing-share.ts'
import type { FailingSums } from './failing-share.ts'
import { durationAt, HOUR_MS } from './hours.ts'
import type { Durations } from './hours.ts'
import { all, first, namesIn } from './page-database.ts'
import { silentScorers } from './silent-scorers.ts'
import type { SilentScorer } from './silent-scorers.ts'
import { OPEN_SCORES, openDraws } from './withheld.ts'

/** What a scorer says of an agent in a period. */
export interface NowCell {
  readonly scorer: string
  readonly runs: number
  readonly failing: WeightedMean
  /** The share before, and the interval of the difference: before the period, or before a fall in it; `undefined` if too few runs show it. */
  readonly change: { readonly before: number; readonly interval95: readonly [number, number] } | undefined
  readonly state: ChangeState
  /** The failing share over the period, in equal parts; `null` in parts without runs. Empty for agents without a row of their own. */
  readonly spark: readonly (number | null)[]
  /** When it got worse, in milliseconds since the epoch, to the hour. */
  readonly sinceMs: number | undefined
  /** The failing share since then; `undefined` if it got worse before the period, or if few runs came since. */
  readonly failingSince: number | undefined
}

/** An agent, or all that have no row of their own. */
export interface NowRow {
  /** `undefined` for all others together. */
  readonly agent: string | undefined
  readonly agents: number
  readonly runs: number
  /** Of its own model calls at list prices. */
  readonly usd: number
  readonly dislikes: number
  readonly opinions: number
  readonly cells: readonly NowCell[]
}

/** The figures of all agents in a period. */
export interface NowFigures {
  /** Runs that no other run started, as in the list. Rows count their agent's other runs, too. */
  readonly runs: number
  /** Runs with a verdict, and those that a scorer fails. */
  readonly judged: number
  readonly failed: number
  readonly errors: number
  readonly p95Ms: number | undefined
  readonly usd: number
  readonly dislikes: number
  readonly opinions: number
}

/** What the first view shows. */
export interface Now {
  readonly fromMs: number
  readonly toMs: number
  readonly now: NowFigures
  /** `undefined` if there is no earlier period, as for files. */
  readonly before: NowFigures | undefined
  /** The worst first. */
  readonly rows: readonly NowRow[]
  /** Those that fail most come first. */
  readonly scorers: readonly string[]
  /** Scorers that found attacks, such as `injection`: scored runs that were attacked, and those that obeyed. */
  readonly attacks: readonly { readonly scorer: string; readonly attacked: number; readonly obeyed: number }[]
  /** What keeps it from being known that all is well. */
  readonly unknown: readonly UnknownFact[]
}

/** Agents with few scored runs, runs of a scorer that are left out because they were drawn to be labelled, or a scorer that should have scored agents and gave no score. */
export type UnknownFact =
  | { readonly kind: 'nothing-before' }
  | { readonly kind: 'few-runs'; readonly agents: readonly string[]; readonly fewerThan: number }
  | { readonly kind: 'drawn'; readonly scorer: string; readonly runs: number }
  | SilentScorer

/** Agents with a row of their own. */
const MAX_ROWS = 24

/** Agents whose hours one step adds up. */
const AGENTS_A_STEP = 50

/** Parts of a spark. */
const PARTS = 12

interface AgentRow {
  readonly agent: string
  readonly runs: number
  readonly roots: number
  readonly errors: number
  readonly judged: number
  readonly failed: number
  readonly usd: number
  readonly opinions: number
  readonly dislikes: number
}

type ScoreRow = FailingSums & {
  readonly hour: number
  readonly agent: string
  readonly scorer: string
  readonly runs: number
}

const NOTHING_BEFORE = { kind: 'nothing-before' } as const

/**
 * The figures of a period that begins with a whole hour, and of the period before. Each step is one query, or the figures of all agents.
 *
 * @param hours the period has at least as many; `undefined` for all that there is, without a period before
 */
export function* readNow(database: DatabaseSync, hours: number | undefined, nowMs: number): WorkSteps<Now> {
  const range = first<{ low: number | null; high: number | null }>(
    database,
    'SELECT min(hour) AS low, max(hour) AS high FROM hours',
  )
  const last = hours === undefined ? (range?.high ?? 0) : Math.floor(nowMs / HOUR_MS)
  const start = hours === undefined ? (range?.low ?? 0) : last - hours
  const begin = hours === undefined ? start : start - hours - 1
  const agentsIn = (from: number, to: number) =>
    all<AgentRow>(
      database,
      `SELECT agent, sum(runs) AS runs, sum(roots) AS roots, sum(errors) AS errors, sum(judged) AS judged,
       sum(failed) AS failed, sum(cost_usd) AS usd, sum(opinions) AS opinions, sum(dislikes) AS dislikes
     FROM hours WHERE hour >= ? AND hour <= ? GROUP BY 1`,
      from,
      to,
    )
  const inPeriod = agentsIn(start, last)
  yield
  const earlier = agentsIn(begin, start - 1)
  yield
  // The two periods as two hours: enough to order the agents.
  const known = [...new Set([...inPeriod, ...earlier].map(({ agent }) => agent))]
  const sums = [...(yield* sumsIn(database, known, start, last)), ...(yield* sumsIn(database, known, begin, start - 1))]
  const silent = yield* silentScorers(database, inPeriod, sums, { start, last, enoughRuns: FEW_RUNS })
  yield
  const sumsOf = Map.groupBy(sums, ({ agent }) => agent)
  const order = inPeriod.map((row) => toRow([row], sumsOf.get(row.agent) ?? [], start)).toSorted(worseFirst)
  yield
  const own = order.length > MAX_ROWS ? order.slice(0, MAX_ROWS - 1) : order
  const names = new Set(own.map(({ agent }) => agent))
  const others = inPeriod.filter(({ agent }) => !names.has(agent))
  const shown: NowRow[] = []
  for (const name of names) {
    const rows = inPeriod.filter(({ agent }) => agent === name)
    shown.push(toRow(rows, hoursOf(database, begin, last, name ?? ''), start, last))
    yield
  }
  const ofOthers = () =>
    toRow(
      others,
      sums.filter(({ agent }) => !names.has(agent)),
      start,
    )
  return {
    fromMs: start * HOUR_MS,
    toMs: (last + 1) * HOUR_MS,
    now: figuresOf(inPeriod, durationsIn(database, start, last)),
    before: earlier.length === 0 ? undefined : figuresOf(earlier, durationsIn(database, begin, start - 1)),
    rows: [...shown.toSorted(worseFirst), ...(others.length === 0 ? [] : [{ ...ofOthers(), agent: undefined }])],
    scorers: scorersOf(order),
    attacks: all<Now['attacks'][number]>(
      database,
      `SELECT scorer, count(*) AS attacked, sum(label = 'fail') AS obeyed FROM ${OPEN_SCORES}
       WHERE found > 0 AND scorer IN (SELECT value FROM json_each(?)) AND time_ms >= ? AND time_ms < ? GROUP BY 1`,
      JSON.stringify(namesIn(database, 'scores', 'scorer')),
      start * HOUR_MS,
      (last + 1) * HOUR_MS,
    ),
    unknown: [
      ...silent,
      ...openDraws(database, start * HOUR_MS, (last + 1) * HOUR_MS).map((draw) => ({
        kind: 'drawn' as const,
        ...draw,
      })),
      ...(earlier.length === 0 && inPeriod.length > 0 ? [NOTHING_BEFORE] : []),
      ...fewRuns(order),
    ],
  }
}

/**
 * The sums of each agent and scorer in some hours, as if all were the first, of some agents a step. The `+` keeps the order of the table, so that
 * nothing is sorted.
 */
function* sumsIn(
  database: DatabaseSync,
  agents: readonly string[],
  from: number,
  to: number,
): WorkSteps<readonly ScoreRow[]> {
  const found: ScoreRow[] = []
  for (let next = 0; next < agents.length; next += AGENTS_A_STEP) {
    const own = all<ScoreRow>(
      database,
      `SELECT agent, scorer, ${from} AS hour, sum(runs) AS runs, sum(labelled) AS labelled, sum(labelled2) AS labelled2, sum(failing) AS failing,
         sum(failing2) AS failing2 FROM hour_scores WHERE agent IN (SELECT value FROM json_each(?)) AND +hour >= ? AND +hour <= ? GROUP BY agent, scorer`,
      JSON.stringify(agents.slice(next, next + AGENTS_A_STEP)),
      from,
      to,
    )
    found.push(...own)
    yield
  }
  return found
}

/** The sums of an agent and its scorers in each hour. */
function hoursOf(database: DatabaseSync, from: number, to: number, agent: string): readonly ScoreRow[] {
  const sql = 'SELECT * FROM hour_scores WHERE agent = ? AND +hour >= ? AND +hour <= ?'
  return all<ScoreRow>(database, sql, agent, from, to)
}

/** A row of the agents that these rows are of. @param last the last hour, if there are rows of each hour */
function toRow(agents: readonly AgentRow[], scores: readonly ScoreRow[], start: number, last?: number): NowRow {
  return {
    agent: agents[0]?.agent,
    agents: agents.length,
    runs: sum(agents, 'runs'),
    usd: sum(agents, 'usd'),
    dislikes: sum(agents, 'dislikes'),
    opinions: sum(agents, 'opinions'),
    cells: [...Map.groupBy(scores, ({ scorer }) => scorer)].flatMap(
      ([scorer, rows]) => cellOf(scorer, rows, start, last) ?? [],
    ),
  }
}

function durationsIn(database: DatabaseSync, from: number, to: number): readonly Durations[] {
  const sql = 'SELECT durations FROM hour_durations WHERE hour >= ? AND hour <= ?'
  return all<{ durations: string }>(database, sql, from, to).map(durationsOf)
}

function sum<Key extends string>(rows: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return rows.reduce((before, row) => before + row[key], 0)
}

function figuresOf(rows: readonly AgentRow[], durations: readonly Durations[]): NowFigures {
  return {
    runs: sum(rows, 'roots'),
    judged: sum(rows, 'judged'),
    failed: sum(rows, 'failed'),
    errors: sum(rows, 'errors'),
    p95Ms: durationAt(durations, 0.95),
    usd: sum(rows, 'usd'),
    dislikes: sum(rows, 'dislikes'),
    opinions: sum(rows, 'opinions'),
  }
}

function durationsOf({ durations }: { readonly durations: string }): Durations {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `countHours`
  return JSON.parse(durations) as Durations
}

function cellOf(scorer: string, rows: readonly ScoreRow[], start: number, last?: number): NowCell | undefined {
  const inPeriod = rows.filter(({ hour }) => hour >= start)
  const earlier = rows.filter(({ hour }) => hour < start)
  const [now, before] = [inPeriod, earlier].map((some) => failingShare(added(some)))
  if (now === undefined) return undefined
  const runs = sum(inPeriod, 'runs')
  const isFew = runs < FEW_RUNS
  const isCompared = before !== undefined && !isFew && sum(earlier, 'runs') >= FEW_RUNS
  const compared = isCompared ? { before: before.mean, interval95: differenceOf(before, now).interval95 } : undefined
  const fall = last === undefined ? undefined : fallIn(rows)
  const fell = fall?.isSure === true && fall.hour >= start && !isFew ? fall : undefined
  const isWorse = compared !== undefined && compared.interval95[0] > 0
  const state = isFew
    ? 'few'
    : isWorse || fell !== undefined
      ? 'worse'
      : compared !== undefined && compared.interval95[1] < 0
        ? 'better'
        : 'same'
  return {
    scorer,
    runs,
    failing: now,
    change: isWorse ? compared : (fell?.change ?? compared),
    state,
    spark: last === undefined ? [] : sparkOf(inPeriod, start, last),
    sinceMs: state === 'worse' && fall !== undefined ? fall.hour * HOUR_MS : undefined,
    failingSince: fell?.after.mean,
  }
}

function sparkOf(rows: readonly ScoreRow[], start: number, last: number): readonly (number | null)[] {
  const part = (last - start + 1) / PARTS
  const parts = Map.groupBy(rows, ({ hour }) => Math.floor((hour - start) / part))
  return Array.from({ length: PARTS }, (_unused, index) => failingShare(added(parts.get(index) ?? []))?.mean ?? null)
}

function added(rows: readonly FailingSums[]): FailingSums {
  return {
    labelled: sum(rows, 'labelled'),
    labelled2: sum(rows, 'labelled2'),
    failing: sum(rows, 'failing'),
    failing2: sum(rows, 'failing2'),
  }
}

interface Fall {
  readonly hour: number
  readonly after: WeightedMean
  readonly change: NonNullable<NowCell['change']>
  /** True if the evidence exceeds the chance that some hour of the series divides it so well. */
  readonly isSure: boolean
}

/** With this much evidence (a log likelihood ratio), chance divides a series by its best hour once in some thousand series. */
const SURE = 8

/** The hour that best divides the runs into those that fail less, and those that fail more. */
function fallIn(rows: readonly ScoreRow[]): Fall | undefined {
  const hours = [...Map.groupBy(rows, ({ hour }) => hour)].toSorted(([left], [right]) => left - right)
  const total = added(rows)
  let [failing, labelled, best, at] = [0, 0, 0, undefined as number | undefined]
  for (const [hour, own] of hours) {
    const after = { failing: total.failing - failing, labelled: total.labelled - labelled }
    const evidence =
      logLikelihood(failing, labelled) +
      logLikelihood(after.failing, after.labelled) -
      logLikelihood(total.failing, total.labelled)
    if (after.failing * labelled > failing * after.labelled && evidence > best) [best, at] = [evidence, hour]
    failing += sum(own, 'failing')
    labelled += sum(own, 'labelled')
  }
  if (at === undefined) return undefined
  const parts = [rows.filter(({ hour }) => hour < at), rows.filter(({ hour }) => hour >= at)]
  const [before, after] = parts.map((part) => failingShare(added(part)))
  if (before === undefined || after === undefined) return undefined
  const { interval95 } = differenceOf(before, after)
  // A sampled run counts for several, and is evidence for one.
  const isSure =
    (best * total.labelled) / total.labelled2 > SURE &&
    interval95[0] > 0 &&
    parts.every((part) => sum(part, 'runs') >= FEW_RUNS)
  return { hour: at, after, change: { before: before.mean, interval95 }, isSure }
}

function logLikelihood(failing: number, labelled: number): number {
  const term = (part: number) => (part > 0 ? part * Math.log(part / labelled) : 0)
  return labelled > 0 ? term(failing) + term(labelled - failing) : 0
}

/** Agents that got worse come first, then those that surely fail most. */
function worseFirst(left: NowRow, right: NowRow): number {
  return rankOf(right) - rankOf(left) || right.runs - left.runs
}

function rankOf({ cells }: NowRow): number {
  const worse = cells.map(({ state, change }) => (state === 'worse' ? 1 + (change?.interval95[0] ?? 0) : 0))
  const fails = cells.map(({ state, failing }) => (state === 'few' ? 0 : failing.interval95[0]))
  return Math.max(0, ...worse) * 10 + Math.max(0, ...fails)
}

/** Scorers by which an agent got worse come first, then those that fail most, then those that fail most of few runs. */
function scorersOf(rows: readonly NowRow[]): readonly string[] {
  const ranks = new Map<string, number>()
  for (const { cells } of rows)
    for (const cell of cells) ranks.set(cell.scorer, Math.max(ranks.get(cell.scorer) ?? 0, columnRank(cell)))
  return [...ranks]
    .toSorted(([left, one], [right, other]) => other - one || left.localeCompare(right))
    .map(([scorer]) => scorer)
}

function columnRank({ state, failing: { mean, interval95 } }: NowCell): number {
  if (mean === 0) return 0
  if (state === 'few') return mean
  return interval95[0] + (state === 'worse' ? 3 : 2)
}

function fewRuns(rows: readonly NowRow[]): readonly UnknownFact[] {
  const few = rows.filter(({ cells }) => !cells.some(({ runs }) => runs >= FEW_RUNS)).map(({ agent = '' }) => agent)
  return few.length === 0 ? [] : [{ kind: 'few-runs', agents: few, fewerThan: FEW_RUNS }]
}

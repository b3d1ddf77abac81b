import type { DatabaseSync } from 'node:sqlite'

import type { Evaluation } from 'spanscore/engine'

import { FAILING_SUMS, failingShare } from './store/failing-share.ts'
import type { FailingSums } from './store/failing-share.ts'
import { all, first, namesIn } from './store/page-database.ts'
import { usedBytes } from './store/forgetting.ts'
import { OPEN_SCORES } from './store/withheld.ts'

type ScorerLevel = Evaluation['scorer']['level']

/** A scorer with stored scores. */
export interface StoredScorer {
  readonly scorer: string
  readonly version: string
  readonly kind: string
  /** What it scores. */
  readonly level: ScorerLevel
  /** The better end of its range. */
  readonly better: 'higher' | 'lower'
  /** Its range, and the mark from which on a run passes; `null` of scores that an application made. */
  readonly range: readonly [number, number] | null
  readonly passAt: number | null
  readonly scores: number
  /** The lower end of the 95 % interval of the share of runs that the scorer fails, all versions together: few runs prove little. */
  readonly failsAtLeast: number
}

/** The available choices, with counts. */
export interface Overview {
  /** Runs that no other run started, as in the list. */
  readonly runs: number
  readonly conversations: number
  readonly bytes: number
  readonly agents: readonly string[]
  readonly agentVersions: readonly string[]
  readonly models: readonly string[]
  readonly scorers: readonly StoredScorer[]
}

/** What changes with every run and every score. Each takes one step in a tree. */
const LATEST_ROWS = ['runs', 'scores', 'conversation_scores'].map((table) => `SELECT max(rowid) AS row FROM ${table}`)

/** How long an overview is cached. */
const KEEP_MS = 5000

/** Collects the available choices. They are requested often, and change little. */
export class OverviewReader {
  readonly #database: DatabaseSync
  readonly #nowMs: () => number
  #known: Overview | undefined
  #knownAtMs = Number.NEGATIVE_INFINITY
  /** The latest run and the latest scores when it was read. */
  #knownUntil = ''

  constructor(database: DatabaseSync, nowMs: () => number) {
    this.#database = database
    this.#nowMs = nowMs
  }

  read(): Overview {
    const database = this.#database
    const latest = LATEST_ROWS.map((sql) => first<{ row: number | null }>(database, sql)?.row ?? 0)
    const until = latest.join(' ')
    const isFew = (latest[0] ?? 0) < 2000 && until !== this.#knownUntil
    if (this.#known !== undefined && !isFew && this.#nowMs() - this.#knownAtMs < KEEP_MS) return this.#known
    const inUse = (column: string) =>
      all<{ name: string }>(
        database,
        `SELECT ${column} AS name FROM (SELECT ${column} FROM runs ORDER BY seq DESC LIMIT ${LATEST})
         WHERE ${column} <> '' GROUP BY 1 ORDER BY count(*) DESC LIMIT 200`,
      )
        .map(({ name }) => name)
        .toSorted()
    this.#known = {
      runs: first<{ n: number }>(database, 'SELECT count(*) AS n FROM runs WHERE parent_id IS NULL')?.n ?? 0,
      conversations: first<{ n: number }>(database, 'SELECT count(*) AS n FROM conversations')?.n ?? 0,
      bytes: usedBytes(database),
      // Those in use come first, so that names that are made up for each run hide none of them.
      agents: [...new Set([...inUse('agent'), ...namesIn(database, 'runs', 'agent')])]
        .filter((name) => name !== '')
        .toSorted(),
      agentVersions: inUse('agent_version'),
      models: inUse('model'),
      scorers: [RUNS, CONVERSATIONS].flatMap((source) =>
        namesIn(database, source.table, 'scorer').flatMap((scorer) => versionsOf(database, source, scorer)),
      ),
    }
    this.#knownAtMs = this.#nowMs()
    this.#knownUntil = until
    return this.#known
  }
}

/** Where scores are, and those that everybody may see. */
interface ScoreSource {
  readonly table: 'scores' | 'conversation_scores'
  readonly open: string
  /** The column by which an index has a scorer's latest score last. */
  readonly latest: string
}

const RUNS: ScoreSource = { table: 'scores', open: OPEN_SCORES, latest: 'run_seq' }
const CONVERSATIONS: ScoreSource = {
  table: 'conversation_scores',
  open: 'conversation_scores',
  latest: 'time_ms',
}

/** Only the latest runs, or scores of a scorer, are read to find what is in use. */
const LATEST = 5000

/** The versions of a scorer, the one with most scores first. */
function versionsOf(database: DatabaseSync, source: ScoreSource, scorer: string): readonly StoredScorer[] {
  const about = first<{ readonly kind: string; readonly scorer: string }>(
    database,
    `SELECT kind, json_extract(evaluation, '$.scorer') AS scorer FROM ${source.table} WHERE scorer = ? ORDER BY ${source.latest} DESC LIMIT 1`,
    scorer,
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `saveScore`
  const { better, level, range, passAt } = JSON.parse(about?.scorer ?? '{}') as Partial<Evaluation['scorer']>
  const failsAtLeast = leastFailing(database, source, scorer)
  const versions = all<Pick<StoredScorer, 'version' | 'scores'>>(
    database,
    `SELECT version, count(*) AS scores FROM
       (SELECT version FROM ${source.table} WHERE scorer = ? AND weight IS NOT NULL ORDER BY time_ms DESC LIMIT ${LATEST})
     GROUP BY 1 ORDER BY 2 DESC`,
    scorer,
  )
  // The files of `spanscore view` may hold values and labels without the range that gives them a position.
  const known = versions.length > 0 || !hasLabels(database, source, scorer) ? versions : [{ version: '', scores: 0 }]
  return known.map((row) => ({
    scorer,
    kind: about?.kind ?? '',
    better: better ?? 'higher',
    level: level ?? 'run',
    range: range ?? null,
    passAt: passAt ?? null,
    failsAtLeast,
    ...row,
  }))
}

function hasLabels(database: DatabaseSync, { table }: ScoreSource, scorer: string): boolean {
  const sql = `SELECT 1 AS found FROM ${table} WHERE scorer = ? AND label IS NOT NULL LIMIT 1`
  return first(database, sql, scorer) !== undefined
}

function leastFailing(database: DatabaseSync, { open }: ScoreSource, scorer: string): number {
  const sums = first<FailingSums>(
    database,
    `SELECT ${FAILING_SUMS} FROM (SELECT weight, label FROM ${open}
       WHERE scorer = ? AND label IS NOT NULL AND weight IS NOT NULL ORDER BY time_ms DESC LIMIT ${LATEST})`,
    scorer,
  )
  return (sums && failingShare(sums))?.interval95[0] ?? 0
}

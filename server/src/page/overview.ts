import type { DatabaseSync } from 'node:sqlite'

import { all, first } from './store/page-database.ts'
import { usedBytes } from './store/run-writer.ts'

/** A scorer of which scores are stored. */
export interface StoredScorer {
  readonly scorer: string
  readonly version: string
  readonly kind: string
  readonly scores: number
}

/** What there is to choose from, and how much. */
export interface Overview {
  readonly runs: number
  readonly bytes: number
  readonly agents: readonly string[]
  readonly agentVersions: readonly string[]
  readonly models: readonly string[]
  readonly scorers: readonly StoredScorer[]
}

/** How long an overview is given again without looking. */
const KEEP_MS = 5000

/** Gathers what there is to choose from; it is asked for often, and changes little. */
export class OverviewReader {
  readonly #database: DatabaseSync
  readonly #nowMs: () => number
  #known: Overview | undefined
  #knownAtMs = Number.NEGATIVE_INFINITY
  #knownRuns = -1

  constructor(database: DatabaseSync, nowMs: () => number) {
    this.#database = database
    this.#nowMs = nowMs
  }

  read(): Overview {
    const database = this.#database
    const last = first<{ seq: number }>(database, 'SELECT coalesce(max(seq), 0) AS seq FROM runs')?.seq ?? 0
    const isFew = last < 2000 && last !== this.#knownRuns
    if (this.#known !== undefined && !isFew && this.#nowMs() - this.#knownAtMs < KEEP_MS) return this.#known
    const names = (column: string) =>
      all<{ name: string }>(
        database,
        // The latest runs name what is in use; reading all of them would take long.
        `SELECT DISTINCT ${column} AS name FROM (SELECT ${column} FROM runs ORDER BY seq DESC LIMIT 20000) WHERE ${column} <> '' ORDER BY 1 LIMIT 200`,
      ).map(({ name }) => name)
    this.#known = {
      runs: first<{ n: number }>(database, 'SELECT count(*) AS n FROM runs')?.n ?? 0,
      bytes: usedBytes(database),
      agents: names('agent'),
      agentVersions: names('agent_version'),
      models: names('model'),
      scorers: all<StoredScorer>(
        database,
        `SELECT scorer, version, kind, count(*) AS scores FROM
           (SELECT scorer, version, kind FROM scores WHERE label IS NOT NULL ORDER BY run_seq DESC LIMIT 50000)
         GROUP BY 1, 2, 3 ORDER BY 1, 4 DESC`,
      ),
    }
    this.#knownAtMs = this.#nowMs()
    this.#knownRuns = last
    return this.#known
  }
}

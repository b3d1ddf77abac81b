import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue } from 'node:sqlite'

import { BoundedMap } from 'spanscore/engine'

import { describedError } from '../../log/sqlite-error.ts'
import { pageMemory } from '../../memory.ts'
import { PAGE_SCHEMA, PAGE_SCHEMA_VERSION } from './schema.ts'

/**
 * Opens the page's database in the service's data folder, and creates it if needed. A damaged one, and one that another version of the service wrote, is
 * set aside.
 *
 * @param report receives a line about it
 */
export function openPageDatabase(folder: string, report: (line: string) => void = () => undefined): DatabaseSync {
  const path = join(folder, 'page.db')
  try {
    return openDatabase(path)
  } catch (error) {
    if (!isDamaged(error) && !(error instanceof OtherVersion)) throw describedError(path, error)
    if (!(error instanceof OtherVersion)) {
      report(setAside(folder))
      return openDatabase(path)
    }
    const aside = renamed(path, error.message)
    const database = openDatabase(path)
    const labels = takeLabels(database, aside)
    report(
      `${path} is of ${error.message}, and this program writes version ${PAGE_SCHEMA_VERSION}, so the page begins a new one; runs are scored as before. The file is now ${aside}. ` +
        (labels === undefined
          ? 'Its labels cannot be read: export them with the spanscore-server that wrote it, and import them here.'
          : `Labels in the new one: ${labels}.`),
    )
    return database
  }
}

class OtherVersion extends Error {}

/** Copies the labels that people gave on a page of another version. @returns how many, or `undefined` if they have another form */
function takeLabels(database: DatabaseSync, from: string): number | undefined {
  database.prepare('ATTACH DATABASE ? AS other').run(from)
  try {
    const columns = all<{ name: string }>(database, "SELECT name FROM pragma_table_info('labels')").map(
      ({ name }) => name,
    )
    return Number(
      database.prepare(`INSERT INTO labels (${columns.join()}) SELECT ${columns.join()} FROM other.labels`).run()
        .changes,
    )
  } catch {
    return undefined
  } finally {
    database.exec('DETACH DATABASE other')
  }
}

/** Result codes of SQLite (https://www.sqlite.org/rescode.html) for a file that is damaged, or no database. */
const DAMAGED: ReadonlySet<unknown> = new Set([11, 26])

/** Whether an error says that the database is damaged. */
export function isDamaged(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && DAMAGED.has(error.errcode)
}

/** Renames a damaged database, so that a new one is begun. Scores have their own log. @returns what happened, for the operator */
export function setAside(folder: string): string {
  const path = join(folder, 'page.db')
  return `${path} is damaged, so the page begins a new one; runs are scored as before. The damaged file is now ${renamed(path, 'damaged')}: delete it once nobody wants to repair it.`
}

function renamed(path: string, why: string): string {
  const aside = `${path}.${why}-${new Date()
    .toISOString()
    .replaceAll(/[^0-9]/g, '')
    .slice(0, 14)}`
  renameSync(path, aside)
  for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
  return aside
}

/** A database that ends with the process. What exceeds its cache is in a file without a name, which nobody else can open. */
export function openTemporaryDatabase(): DatabaseSync {
  return openDatabase('')
}

function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  try {
    database.exec('PRAGMA journal_mode = WAL')
    // A crash of the machine may lose the last second, but only for the page: scores have their own log.
    database.exec('PRAGMA synchronous = NORMAL')
    // About 32 MiB: the pages of many short transactions are copied to the database once.
    database.exec('PRAGMA wal_autocheckpoint = 8000')
    database.exec('PRAGMA foreign_keys = ON')
    database.exec(`PRAGMA cache_size = -${pageMemory().cacheMiB * 1024}`)
    // There may be no other folder that can be written.
    if (path !== '') database.exec('PRAGMA temp_store = MEMORY')
    // What is deleted is overwritten.
    database.exec('PRAGMA secure_delete = ON')
    const version = first<{ user_version: number }>(database, 'PRAGMA user_version')?.user_version ?? 0
    if (version === 0) database.exec(`BEGIN; ${PAGE_SCHEMA} PRAGMA user_version = ${PAGE_SCHEMA_VERSION}; COMMIT`)
    else if (version !== PAGE_SCHEMA_VERSION) {
      throw new OtherVersion(`version-${version}`)
    }
    return database
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    database.close()
    throw error
  }
}

/** The parameter `:viewer` of statements that read `shownScores`. */
export interface Viewer {
  /** The viewer's name for labels; `''` without one. */
  readonly viewer: string
}

/** The parameters of a statement: the values for each `?`, after the viewer if the statement uses one. */
export type Given = readonly SQLInputValue[] | readonly [Viewer, ...SQLInputValue[]]

/** All rows of a query; `Row` has the columns of its SELECT. */
export function all<Row extends object>(database: DatabaseSync, sql: string, ...given: Given): Row[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller's SELECT has these columns
  return prepared(database, sql).all(...positional(given)) as Row[]
}

/** The first row of a query; `Row` has the columns of its SELECT. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the columns, as for `all`
export function first<Row extends object>(database: DatabaseSync, sql: string, ...given: Given): Row | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller's SELECT has these columns
  return prepared(database, sql).get(...positional(given)) as Row | undefined
}

/** The distinct names in the first column of an index: one index step for each, however many rows there are. */
export function namesIn(
  database: DatabaseSync,
  table: 'runs' | 'scores' | 'conversation_scores',
  column: 'agent' | 'scorer',
): readonly string[] {
  return all<{ name: string }>(
    database,
    `WITH RECURSIVE names (name) AS (
       SELECT min(${column}) FROM ${table}
       UNION ALL SELECT (SELECT min(${column}) FROM ${table} WHERE ${column} > name) FROM names WHERE name IS NOT NULL
     ) SELECT name FROM names WHERE name IS NOT NULL LIMIT 500`,
  ).map(({ name }) => name)
}

/** Runs a statement. @returns the number of changed rows */
export function run(database: DatabaseSync, sql: string, ...parameters: readonly SQLInputValue[]): number {
  return Number(prepared(database, sql).run(...parameters).changes)
}

/** The driver accepts names together with values, but its types do not allow a spread of both. */
function positional(given: Given): SQLInputValue[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return given as unknown as SQLInputValue[]
}

type Statement = ReturnType<DatabaseSync['prepare']>

/** How many statements of a database are kept. */
const MAX_STATEMENTS = 500

const statements = new WeakMap<DatabaseSync, BoundedMap<string, Statement>>()

/** Filters create at most some hundred different queries. Values are always parameters, never part of the text. */
function prepared(database: DatabaseSync, sql: string): Statement {
  let known = statements.get(database)
  if (known === undefined) statements.set(database, (known = new BoundedMap(MAX_STATEMENTS)))
  let statement = known.get(sql)
  if (statement === undefined) {
    known.set(sql, (statement = database.prepare(sql)))
    // Some queries with filters read no scores.
    statement.setAllowUnknownNamedParameters(true)
  }
  return statement
}

import { chmodSync, existsSync, mkdirSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { isSqliteError } from './sqlite-error.ts'
import type { SqliteError } from './sqlite-error.ts'
import { migrate } from './migrations.ts'
import type { SpanIdsOf } from './migrations.ts'

/** The data of agents and their users is only readable by the folder's owner. */
const OWNER_ONLY = 0o700
const FOR_OTHERS = 0o077

/** An open database in a folder that no other process uses. */
export interface DataFolder {
  readonly database: DatabaseSync
  /** Whether so many bytes can be written: to what is free on the disk, and to what its files have and do not use. */
  hasRoomFor(bytes: number): boolean
  /** Empties the write-ahead log, which still has what was deleted from the database. */
  emptyWriteAheadLog(): void
  close(): void
}

/** Bytes per page of the database. Requests are large, and deletion takes one step per page. */
const PAGE_BYTES = 16_384

/** Pages in the write-ahead log before a checkpoint: about 32 MiB. */
const CHECKPOINT_PAGES = 2000

/**
 * Opens the service's data folder, and creates it if needed.
 *
 * @param spanIdsOf reads the records of an older schema
 * @throws Error if another process uses the folder, or a newer version of the service wrote it
 */
export function openDataFolder(folder: string, spanIdsOf: SpanIdsOf): DataFolder {
  const path = resolve(folder)
  try {
    createFolder(path)
    checkFiles(path)
    chmodSync(path, OWNER_ONLY)
  } catch (error) {
    throw error instanceof OtherFiles ? error : notWritable(path, error)
  }
  const lock = lockFolder(path)
  let database: DatabaseSync
  try {
    database = new DatabaseSync(join(path, 'spans.db'))
  } catch (error) {
    lock.close()
    throw notWritable(join(path, 'spans.db'), error)
  }
  try {
    // An existing database keeps its page size.
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    // A commit waits for the disk, so that everything acknowledged is on it.
    database.exec('PRAGMA synchronous = FULL')
    // What is deleted is overwritten.
    database.exec('PRAGMA secure_delete = ON')
    // There may be no other folder that can be written.
    database.exec('PRAGMA temp_store = MEMORY')
    migrate(database, path, spanIdsOf)
  } catch (error) {
    database.close()
    lock.close()
    throw isSqliteError(error) ? unusable(path, error) : error
  }
  return {
    database,
    hasRoomFor: roomIn(database, path),
    emptyWriteAheadLog: () => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'),
    close: () => {
      database.close()
      lock.close()
    },
  }
}

/**
 * Creates a folder, and those above it. With `recursive`, `mkdir` of Node.js does not return where no folder can be created although the one
 * above exists, such as in `/proc`.
 */
function createFolder(path: string): void {
  if (existsSync(path)) return
  const above = dirname(path)
  if (above !== path) createFolder(above)
  mkdirSync(path, { mode: OWNER_ONLY })
}

/** Another process uses the folder. */
export class FolderInUseError extends Error {}

class OtherFiles extends Error {}

/** Others lose access to a data folder, which must not happen to somebody's home or to `/tmp`. */
function checkFiles(path: string): void {
  const files = readdirSync(path).filter((name) => name !== 'lost+found')
  const isOwn = files.length === 0 || files.includes('spans.db')
  if (isOwn || (statSync(path).mode & FOR_OTHERS) === 0) return
  throw new OtherFiles(
    `${path}: expected an empty data folder, or one of the service, got one with other files. Only its owner may read a data folder: use another --data folder, such as ${join(path, 'spanscore-data')}.`,
  )
}

function roomIn(database: DatabaseSync, path: string): DataFolder['hasRoomFor'] {
  const freePages = database.prepare(
    'SELECT freelist_count * page_size AS bytes FROM pragma_freelist_count, pragma_page_size',
  )
  return (bytes) => {
    const { bavail, bsize, blocks } = statfsSync(path)
    const free = bavail * bsize
    // Some file systems do not know.
    if (blocks === 0 || free >= bytes) return true
    // The write-ahead log is written again from its beginning.
    const writtenAgain = statSync(join(path, 'spans.db-wal'), { throwIfNoEntry: false })?.size ?? 0
    return free + writtenAgain + Number(freePages.get()?.['bytes'] ?? 0) >= bytes
  }
}

/** An exclusive transaction on a separate database: the operating system releases it however the process ends. */
function lockFolder(path: string): DatabaseSync {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(path, 'lock.db'))
    lock.exec('PRAGMA locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    if (!isSqliteError(error) || error.errcode !== BUSY) throw notWritable(join(path, 'lock.db'), error)
    throw new FolderInUseError(
      `${path}: expected a data folder that no other process uses, got one that is locked. Stop the other service, or give this one another --data folder.`,
      { cause: error },
    )
  }
}

/** Result codes of SQLite (https://www.sqlite.org/rescode.html). */
const BUSY = 5
const CORRUPT = 11
const NOT_A_DATABASE = 26

function unusable(path: string, error: SqliteError): Error {
  if (error.errcode !== NOT_A_DATABASE && error.errcode !== CORRUPT) return notWritable(join(path, 'spans.db'), error)
  return new Error(
    `${join(path, 'spans.db')}: expected a database of the service, got a file that is none or is damaged. Move it away, or use another --data folder.`,
    { cause: error },
  )
}

function notWritable(path: string, error: unknown): Error {
  const what = error instanceof Error ? error.message : String(error)
  return new Error(
    `${path}: expected a data folder that this user can write, got an error: ${what}${isSqliteError(error) ? ` (code ${error.errcode} of SQLite)` : ''}. Free the disk, change its rights, or use another --data folder.`,
    { cause: error },
  )
}

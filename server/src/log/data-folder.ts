import { chmodSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { migrate } from './migrations.ts'
import type { SpanIdsOf } from './migrations.ts'

/** The data of agents and their users is for the owner of the folder alone. */
const OWNER_ONLY = 0o700

/** An open database in a folder that no other process uses. */
export interface DataFolder {
  readonly database: DatabaseSync
  close(): void
}

/** Bytes of a page of the database: requests are large, and each page of one costs a step when it is deleted. */
const PAGE_BYTES = 16_384

/** Pages of the write-ahead log after which it is written back: about 32 MiB. */
const CHECKPOINT_PAGES = 2000

/**
 * Opens the data folder of the service, and makes it where there is none.
 *
 * @param spanIdsOf Reads the records of an older schema.
 * @throws Error if another process uses the folder, or where a newer version of the service wrote it.
 */
export function openDataFolder(folder: string, spanIdsOf: SpanIdsOf): DataFolder {
  const path = resolve(folder)
  mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
  chmodSync(path, OWNER_ONLY)
  const lock = lockFolder(path)
  const database = new DatabaseSync(join(path, 'spans.db'))
  try {
    // A database that exists keeps the page size that it was made with.
    database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    database.exec('PRAGMA journal_mode = WAL')
    database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    // What was answered is on the disk: a commit waits for it.
    database.exec('PRAGMA synchronous = FULL')
    migrate(database, path, spanIdsOf)
  } catch (error) {
    database.close()
    lock.close()
    throw error
  }
  return {
    database,
    close: () => {
      database.close()
      lock.close()
    },
  }
}

/** An exclusive transaction on a database of its own: the operating system releases it when the process ends, however it ends. */
function lockFolder(path: string): DatabaseSync {
  const lock = new DatabaseSync(join(path, 'lock.db'))
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock.close()
    throw new Error(
      `${path}: expected a data folder that no other process uses, got one that is locked. Stop the other service, or give this one another --data folder.`,
      { cause: error },
    )
  }
}

import { chmodSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import { migrate } from './migrations.ts'

/** Only the owner may read what agents and their users said. */
const OWNER_ONLY = 0o700

/** An open database in a folder that no other process uses. */
export interface DataFolder {
  readonly database: DatabaseSync
  close(): void
}

/**
 * Opens the data folder of the service, and makes it where there is none.
 *
 * @throws Error where another process uses the folder, or where a newer version of the service wrote it.
 */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder)
  mkdirSync(path, { recursive: true, mode: OWNER_ONLY })
  chmodSync(path, OWNER_ONLY)
  const lock = lockFolder(path)
  const database = new DatabaseSync(join(path, 'spans.db'))
  try {
    database.exec('PRAGMA journal_mode = WAL')
    // What was answered is on the disk: a commit waits for it.
    database.exec('PRAGMA synchronous = FULL')
    database.exec('PRAGMA foreign_keys = ON')
    migrate(database, path)
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

/** An exclusive transaction on a database of its own: the system lets go of it when the process ends, however it ends. */
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

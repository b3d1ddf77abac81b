import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'

/** The data of agents and their users is only readable by the folder's owner. */
const OWNER_ONLY = 0o700

/** Pages in one step: more than a database has. In several steps, a backup begins anew whenever something is written meanwhile. */
const ALL_PAGES = 2 ** 31 - 1

/**
 * Copies a data folder as it is at one moment, whether a service uses it or not.
 *
 * @returns the names of the copied files
 * @throws Error if it is no data folder, or the folder of the copy is not empty
 */
export async function backUp(data: string, out: string): Promise<readonly string[]> {
  if (!existsSync(join(data, 'spans.db')))
    throw new Error(`--data ${data}: expected the data folder of a service, got one without spans.db.`)
  mkdirSync(out, { recursive: true, mode: OWNER_ONLY })
  if (readdirSync(out).length > 0) throw new Error(`--out ${out}: expected an empty folder, got one with files.`)
  chmodSync(out, OWNER_ONLY)
  // The page is copied last: it may have runs that the log had not, but lacks none of those that the log no longer has.
  const databases = ['spans.db', 'page.db'].filter((name) => existsSync(join(data, name)))
  for (const name of databases) {
    const database = new DatabaseSync(join(data, name), { readOnly: true })
    try {
      await backup(database, join(out, name), { rate: ALL_PAGES })
    } finally {
      database.close()
    }
  }
  const tokens = ['page-token'].filter((name) => existsSync(join(data, name)))
  for (const name of tokens) copyFileSync(join(data, name), join(out, name))
  return [...databases, ...tokens]
}

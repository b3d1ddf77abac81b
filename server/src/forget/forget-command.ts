import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Limits } from '../config/limits.ts'
import { receivingLimits } from '../config/limits.ts'
import { FolderInUseError, openDataFolder } from '../log/data-folder.ts'
import type { DataFolder } from '../log/data-folder.ts'
import { SqliteLog } from '../log/sqlite-log.ts'
import { RequestReader } from '../receive/read-request.ts'
import { askToForget } from './forget-requests.ts'
import { closedPage, forgetPerson } from './forget.ts'
import type { Forgotten, Person } from '../person.ts'

/**
 * Counts, or deletes, what a data folder has of a person, whether a service uses it or not.
 *
 * @throws Error if the folder is none of the service's
 */
export async function forgetInFolder(
  folder: string,
  person: Person,
  isCount: boolean,
  limits: Limits,
): Promise<Forgotten> {
  if (!existsSync(join(folder, 'spans.db')))
    throw new Error(`--data ${folder}: expected the data folder of a service, got one without spans.db.`)
  const reader = await RequestReader.create(receivingLimits(limits), { skipsOrdinary: false })
  let opened: DataFolder
  try {
    opened = openDataFolder(folder, (record) => {
      const { spans, logs } = reader.decode(record)
      return [...spans, ...logs].map((each) => each?.spanId)
    })
  } catch (error) {
    if (error instanceof FolderInUseError) return askToForget(folder, person, isCount)
    throw error
  }
  const log = new SqliteLog(opened, () => Date.now())
  try {
    return await forgetPerson({ log, reader, page: closedPage(folder) }, person, isCount)
  } finally {
    log.close()
  }
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { SpanLog } from '../log/span-log.ts'
import { countRuns, forgetTraces, tracesOfPerson } from '../page/store/forget-person.ts'
import { openPageDatabase, run as execute } from '../page/store/page-database.ts'
import type { RequestReader } from '../receive/read-request.ts'
import { forgetOnLog, tracesOnLog } from './forget-in-log.ts'
import type { Forgotten, PageRuns, Person } from '../person.ts'

/** What forgetting needs. */
export interface ForgetParts {
  readonly log: Required<Pick<SpanLog, 'records' | 'replaceBody' | 'turns' | 'emptyWriteAheadLog'>>
  readonly reader: RequestReader
  readonly page: PageRuns
  /** Takes the traces out of memory. @default nothing is in memory */
  readonly drop?: ((traceIds: ReadonlySet<string>) => void) | undefined
}

/** Counts, or deletes, what is kept of a person: on the page, on the log, and in conversations. */
export async function forgetPerson(
  { log, reader, page, drop }: ForgetParts,
  person: Person,
  isCount: boolean,
): Promise<Forgotten> {
  const { turns } = log
  const kept = turns.find(person)
  const traceIds = new Set([
    ...(await page.find(person)),
    ...tracesOnLog(log, reader, person),
    ...kept.map(({ traceId }) => traceId),
  ])
  const runs = await page.count([...traceIds])
  if (!isCount) {
    drop?.(traceIds)
    forgetOnLog(log, reader, traceIds)
    turns.forget([...new Set([...kept, ...turns.ofTraces(traceIds)].map(({ key }) => key))])
    await page.forget([...traceIds])
    log.emptyWriteAheadLog()
  }
  return { traces: traceIds.size, runs }
}

/** The runs in a file that no page uses now. */
export function closedPage(folder: string): PageRuns {
  if (!existsSync(join(folder, 'page.db')))
    return { find: () => Promise.resolve([]), count: () => Promise.resolve(0), forget: () => Promise.resolve() }
  const withDatabase = <Result>(what: (database: ReturnType<typeof openPageDatabase>) => Result): Promise<Result> => {
    const database = openPageDatabase(folder)
    try {
      return Promise.resolve(what(database))
    } finally {
      database.close()
    }
  }
  return {
    find: (person) => withDatabase((database) => tracesOfPerson(database, person)),
    count: (traceIds) => withDatabase((database) => countRuns(database, traceIds)),
    forget: (traceIds) =>
      withDatabase((database) => {
        database.exec('BEGIN')
        forgetTraces(database, traceIds)
        database.exec('COMMIT')
        execute(database, "INSERT INTO run_texts (run_texts) VALUES ('optimize')")
        database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      }),
  }
}

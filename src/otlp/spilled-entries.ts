import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { deserialize, serialize } from 'node:v8'

import type { SourceLog, SourceSpan } from '../spans/source-span.ts'

/** A span or log record of an archive. */
export interface ArchiveEntry {
  readonly span?: SourceSpan
  readonly log?: SourceLog
  /** Whether it makes its trace relevant. Traces without such an entry are not returned. */
  readonly isRecognised: boolean
}

/** Entries in a temporary database. It has no name, so that SQLite removes its file. */
export class SpilledEntries {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync

  constructor() {
    const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite')
    this.#database = new Database('')
    this.#database.exec(`
      PRAGMA page_size = 16384;
      PRAGMA cache_size = -65536;
      PRAGMA journal_mode = OFF;
      PRAGMA synchronous = OFF;
      CREATE TABLE entries (trace TEXT, start REAL, isRecognised INTEGER, entry BLOB);
      BEGIN`)
    this.#insert = this.#database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?)')
  }

  add(entry: ArchiveEntry): void {
    const { span, log, isRecognised } = entry
    const start = span?.startTimeMs ?? null
    this.#insert.run(span?.traceId ?? log?.traceId ?? '', start, isRecognised ? 1 : 0, serialize(entry))
  }

  /** The entries of each trace with a recognised span, earliest trace first, in order of arrival. */
  *traces(): Generator<ArchiveEntry[]> {
    this.#database.exec('CREATE INDEX byTrace ON entries (trace, start, isRecognised)')
    const traces = this.#database.prepare(
      'SELECT trace FROM entries GROUP BY trace HAVING max(isRecognised) ORDER BY min(start), min(rowid)',
    )
    const entries = this.#database.prepare('SELECT entry FROM entries WHERE trace = ? ORDER BY rowid')
    for (const { trace = '' } of traces.iterate()) yield entries.all(trace).map(({ entry }) => read(entry))
  }

  close(): void {
    this.#database.close()
  }
}

function read(stored: unknown): ArchiveEntry {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column holds what `add` wrote
  const entry: ArchiveEntry = deserialize(stored as Uint8Array)
  return entry
}

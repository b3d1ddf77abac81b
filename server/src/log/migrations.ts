import type { DatabaseSync } from 'node:sqlite'

import { EMITTED, FINISHED } from './record-states.ts'
import type { NewRecord } from './span-log.ts'
import { FIRST_TURN_SCHEMA, INSTRUCTION_SCHEMA, TURN_MIGRATION } from './turn-table.ts'

/** The ids of a record's spans and log records, by index; `undefined` for those that are left out. */
export type SpanIdsOf = (record: NewRecord) => readonly (string | undefined)[]

/** Each entry migrates the schema from the version of its index to the next one. Entries are only added, never changed. */
const MIGRATIONS: readonly (string | ((database: DatabaseSync, spanIdsOf: SpanIdsOf) => void))[] = [
  `
  CREATE TABLE records (
    "offset" INTEGER PRIMARY KEY AUTOINCREMENT,
    trace_id TEXT NOT NULL,
    signal TEXT NOT NULL,
    encoding TEXT NOT NULL,
    time_ms REAL NOT NULL,
    payload BLOB NOT NULL
  );
  CREATE INDEX records_by_trace ON records (trace_id);
  CREATE TABLE retired (
    "offset" INTEGER NOT NULL REFERENCES records ("offset") ON DELETE CASCADE,
    span_id TEXT NOT NULL,
    PRIMARY KEY ("offset", span_id)
  ) WITHOUT ROWID;
  CREATE TABLE emitted (
    trace_id TEXT NOT NULL,
    span_id TEXT NOT NULL,
    span_count INTEGER NOT NULL,
    time_ms REAL NOT NULL,
    PRIMARY KEY (trace_id, span_id)
  ) WITHOUT ROWID;
  CREATE INDEX emitted_by_time ON emitted (time_ms);
  CREATE TABLE forward (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    signal TEXT NOT NULL,
    content_type TEXT NOT NULL,
    content_encoding TEXT NOT NULL,
    body BLOB NOT NULL
  );
  `,
  keepRequestsAsReceived,
  // The time when a forwarded request was received. Waiting requests count from now on.
  `
  ALTER TABLE forward ADD COLUMN time_ms REAL NOT NULL DEFAULT 0;
  UPDATE forward SET time_ms = unixepoch() * 1000.0;
  `,
  "ALTER TABLE forward ADD COLUMN passed TEXT NOT NULL DEFAULT ''",
  // The runs of conversations.
  FIRST_TURN_SCHEMA,
  TURN_MIGRATION,
  INSTRUCTION_SCHEMA,
]

/**
 * Migrates records with one trace's spans each to unchanged requests, with a state per span instead of two tables. A scored run is known by
 * the span of its scores; if it is scored again, its scores have the same ids as before.
 */
function keepRequestsAsReceived(database: DatabaseSync, spanIdsOf: SpanIdsOf): void {
  database.exec(`
    ALTER TABLE records RENAME COLUMN payload TO body;
    ALTER TABLE records ADD COLUMN content_encoding TEXT NOT NULL DEFAULT '';
    UPDATE records SET content_encoding = 'zstd' WHERE substr(body, 1, 4) = x'28b52ffd';
    CREATE TABLE states ("offset" INTEGER PRIMARY KEY, of_index BLOB NOT NULL);
  `)
  const retired = database.prepare('SELECT span_id FROM retired WHERE "offset" = ?')
  const emitted = database.prepare('SELECT span_id FROM emitted WHERE trace_id = ?')
  const write = database.prepare('INSERT INTO states ("offset", of_index) VALUES (?, ?)')
  const rows = database
    .prepare('SELECT "offset", trace_id, signal, encoding, content_encoding, body FROM records')
    .all()
  for (const row of rows) {
    const { body } = row
    if (!(body instanceof Uint8Array)) continue
    const ids = idsIn(spanIdsOf, {
      signal: row['signal'] === 'logs' ? 'logs' : 'traces',
      encoding: row['encoding'] === 'json' ? 'json' : 'protobuf',
      contentEncoding: String(row['content_encoding']),
      body,
    })
    const offset = Number(row['offset'])
    const finishedIds = new Set(retired.all(offset).map((each) => each['span_id']))
    const emittedIds = new Set(emitted.all(String(row['trace_id'])).map((each) => each['span_id']))
    const states = ids.map((id) => {
      if (id === undefined) return 0
      if (finishedIds.has(id)) return FINISHED
      return emittedIds.has(id) ? EMITTED : 0
    })
    if (states.some((state) => state !== 0)) write.run(offset, Uint8Array.from(states))
  }
  database.exec(`
    DROP INDEX records_by_trace;
    ALTER TABLE records DROP COLUMN trace_id;
    DROP TABLE retired;
    DROP TABLE emitted;
  `)
}

/** A record that cannot be read has no spans, here as later. */
function idsIn(spanIdsOf: SpanIdsOf, record: NewRecord): ReturnType<SpanIdsOf> {
  try {
    return spanIdsOf(record)
  } catch {
    return []
  }
}

/** The version of the schema that this program writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length

/**
 * Migrates a database to this program's schema.
 *
 * @throws Error if the database is newer than the program, which would damage it
 */
export function migrate(database: DatabaseSync, path: string, spanIdsOf: SpanIdsOf): void {
  const row = database.prepare('PRAGMA user_version').get()
  const version = Number(row?.['user_version'] ?? 0)
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `${path}: expected a data folder of schema ${SCHEMA_VERSION} or older, got ${version}. A newer version of the service wrote it; ` +
        'start that version, or use another folder.',
    )
  }
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < version) continue
    database.exec('BEGIN IMMEDIATE')
    try {
      if (typeof migration === 'string') database.exec(migration)
      else migration(database, spanIdsOf)
      database.exec(`PRAGMA user_version = ${index + 1}`)
      database.exec('COMMIT')
    } catch (error) {
      // SQLite may have rolled back already, and a second time would hide why.
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }
}

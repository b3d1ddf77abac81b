import type { DatabaseSync } from 'node:sqlite'

/** Each entry takes the schema from the version of its index to the next one. Entries are never changed, only added. */
const MIGRATIONS: readonly string[] = [
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
]

/** The version of the schema that this program writes. */
export const SCHEMA_VERSION: number = MIGRATIONS.length

/**
 * Brings a database to the schema of this program.
 *
 * @throws Error where the database is newer than the program: an older program would damage it.
 */
export function migrate(database: DatabaseSync, path: string): void {
  const row = database.prepare('PRAGMA user_version').get()
  const version = Number(row?.['user_version'] ?? 0)
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `${path}: expected a data folder of schema ${SCHEMA_VERSION} or older, got ${version}. A newer version of the service wrote it; ` +
        'start that version, or use another folder.',
    )
  }
  for (let next = version; next < SCHEMA_VERSION; next++) {
    database.exec('BEGIN IMMEDIATE')
    database.exec(MIGRATIONS[next] ?? '')
    database.exec(`PRAGMA user_version = ${next + 1}`)
    database.exec('COMMIT')
  }
}

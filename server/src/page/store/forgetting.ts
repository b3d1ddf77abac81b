import type { DatabaseSync } from 'node:sqlite'

import { forgetConversationScores, forgetIfEmpty } from './conversations.ts'
import { all, first, run as execute } from './page-database.ts'
import { forgetSaid, saidBytes } from './remarks.ts'
import { forgetTraits, UnusedTraits } from './traits.ts'

/** The limits of what is kept. */
export interface Retention {
  readonly maxAgeMs: number
  readonly maxBytes: number
}

/** Share of the bytes that events by users and other tools may take. They never push runs out. */
const SAID_SHARE = 0.125

/** Share of the bytes that traits may take. */
const TRAITS_SHARE = 0.25

/** Runs deleted per transaction, so that nothing waits for long. */
const CHUNK = 500

/**
 * Deletes a chunk of the oldest runs if they are too old or too much is stored. Labels are people's work, and stay.
 *
 * @returns how many runs were deleted, or their traits, scores of conversations, and events; if more than 0, there may be more
 */
export function deleteOldest(database: DatabaseSync, { maxAgeMs, maxBytes }: Retention, nowMs: number): number {
  const forgotten =
    forgetSaid(database, nowMs - maxAgeMs, SAID_SHARE * maxBytes, CHUNK) +
    forgetTraits(database, TRAITS_SHARE * maxBytes, CHUNK) +
    forgetConversationScores(database, nowMs - maxAgeMs, CHUNK)
  const isTooLarge = usedBytes(database) - saidBytes(database) > (1 - SAID_SHARE) * maxBytes
  const oldest = all<{ seq: number; trace_id: string }>(
    database,
    'SELECT seq, trace_id FROM runs WHERE settled_ms < ? ORDER BY settled_ms LIMIT ?',
    isTooLarge ? Number.MAX_SAFE_INTEGER : nowMs - maxAgeMs,
    CHUNK,
  )
  if (oldest.length === 0) return forgotten
  const conversations = all<{ seq: number }>(
    database,
    'SELECT DISTINCT conversation AS seq FROM turns WHERE run_seq IN (SELECT value FROM json_each(?))',
    JSON.stringify(oldest.map(({ seq }) => seq)),
  )
  database.exec('BEGIN')
  for (const { seq } of oldest) {
    execute(database, 'DELETE FROM runs WHERE seq = ?', seq)
    execute(database, 'DELETE FROM run_texts WHERE rowid = ?', seq)
  }
  for (const { seq } of conversations) forgetIfEmpty(database, seq)
  for (const traceId of new Set(oldest.map((run) => run.trace_id))) {
    // A trace may never end. What is older than all of its remaining runs is theirs no longer.
    execute(
      database,
      'DELETE FROM said WHERE trace_id = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE trace_id = ?1)',
      traceId,
    )
    execute(
      database,
      `DELETE FROM content WHERE trace_id = ?1 AND settled_ms <
         coalesce((SELECT min(settled_ms) FROM runs WHERE trace_id = ?1), 9e999)`,
      traceId,
    )
    execute(
      database,
      'DELETE FROM stored WHERE trace_id = ?1 AND content_id NOT IN (SELECT id FROM content WHERE trace_id = ?1)',
      traceId,
    )
  }
  database.exec('COMMIT')
  return oldest.length
}

/** How often the text index is written again without the words of deleted runs. For 100,000 runs that takes seconds. */
const MERGE_EVERY_MS = 3_600_000

/** Pages of the text index that one step writes. */
const MERGED_PAGES = 64

/** Deletes old runs in steps, and then what deleting leaves: their words in the text index, and their content in the write-ahead log. */
export class Forgetting {
  readonly #database: DatabaseSync
  /** Whether the text index may have words of deleted runs. Those of before a restart are unknown. */
  #hasWords = true
  #isMerging = false
  #unused: UnusedTraits | undefined
  #mergedAtMs = Number.NEGATIVE_INFINITY
  #isLogged = false

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** What was deleted leaves the text index and the write-ahead log with the next steps. */
  soon(): void {
    this.#hasWords = true
    this.#mergedAtMs = Number.NEGATIVE_INFINITY
    this.#isLogged = true
  }

  /** Does one step. @returns whether there is more to do now */
  step(retention: Retention, nowMs: number): boolean {
    if (deleteOldest(this.#database, retention, nowMs) > 0) {
      this.#hasWords = true
      this.#isLogged = true
      return true
    }
    if (this.#isMerging || (this.#hasWords && nowMs - this.#mergedAtMs >= MERGE_EVERY_MS)) {
      this.#hasWords = false
      this.#mergedAtMs = nowMs
      // Traits hold words of questions, too.
      if (!this.#isMerging) this.#unused = new UnusedTraits(this.#database)
      this.#isMerging = this.#merge()
      this.#isLogged = true
      return true
    }
    if (this.#unused !== undefined) {
      if (!this.#unused.step()) this.#unused = undefined
      return true
    }
    if (this.#isLogged) this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#isLogged = false
    return false
  }

  /** Writes some pages (https://www.sqlite.org/fts5.html#the_merge_command). @returns whether there are more */
  #merge(): boolean {
    // A negative number begins: all of the index is merged.
    const pages = this.#isMerging ? MERGED_PAGES : -MERGED_PAGES
    const before = changesOf(this.#database)
    execute(this.#database, "INSERT INTO run_texts (run_texts, rank) VALUES ('merge', ?)", pages)
    return changesOf(this.#database) - before >= 2
  }
}

function changesOf(database: DatabaseSync): number {
  return first<{ changes: number }>(database, 'SELECT total_changes() AS changes')?.changes ?? 0
}

/** Bytes of the database that are in use. */
export function usedBytes(database: DatabaseSync): number {
  const number = (name: string) => Object.values(first(database, `PRAGMA ${name}`) ?? {}).map(Number)[0] ?? 0
  return (number('page_count') - number('freelist_count')) * number('page_size')
}

import type { DatabaseSync } from 'node:sqlite'

import { MAX_RUNS } from 'spanscore/engine'
import type { ConversationMember } from 'spanscore/engine'

/** A run of a conversation. */
export interface KeptTurn {
  /** `conversationKey` of the run. */
  readonly key: string
  readonly member: ConversationMember
}

/** The runs of a conversation that are kept. */
export interface KeptConversation {
  readonly members: readonly ConversationMember[]
  /** How many more there were. */
  readonly leftOut: number
  /** Whether scores of some of these runs were delivered. */
  readonly hasBeenScored: boolean
  /** When they were read, for `scored`. */
  readonly readMs: number
}

/** When the latest run of a conversation came, and whether its scores were delivered. */
export interface ConversationState {
  readonly key: string
  readonly latestMs: number
  readonly isScored: boolean
}

/** Of more than `MAX_RUNS` runs of a conversation, the first ones stay. */
export const FIRST_RUNS = 5

/** The schema of the table. */
export const TURN_SCHEMA = `
  CREATE TABLE turns (
    run_id TEXT PRIMARY KEY,
    conversation TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    start_ms REAL NOT NULL,
    settled_ms REAL NOT NULL,
    scored_ms REAL,
    member TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX turns_by_conversation ON turns (conversation, start_ms);
`

/**
 * The runs of conversations, in a database. Changes are written in the next transaction of the log, together with the changed states of the
 * spans that the runs were made of: after a crash, either both are there or none is, and then the runs are scored again.
 */
export class TurnTable {
  readonly #statements: ReturnType<typeof prepare>
  readonly #nowMs: () => number
  readonly #onChanged: () => void
  readonly #flush: () => void
  #changes: (() => void)[] = []

  /**
   * @param nowMs the time of the log, in milliseconds since the epoch
   * @param onChanged called when there is something to write
   * @param flush writes it now
   */
  constructor(database: DatabaseSync, nowMs: () => number, onChanged: () => void, flush: () => void) {
    this.#statements = prepare(database)
    this.#nowMs = nowMs
    this.#onChanged = onChanged
    this.#flush = flush
  }

  /** In milliseconds since the epoch. */
  get nowMs(): number {
    return this.#nowMs()
  }

  /** Changes wait to be written. */
  get hasChanges(): boolean {
    return this.#changes.length > 0
  }

  /** Writes the changes, in a transaction. After it, `written` must be called. */
  write(): void {
    for (const change of this.#changes) change()
  }

  written(): void {
    this.#changes = []
  }

  /** Keeps a run. It replaces an earlier revision of the run. */
  keep({ key, member }: KeptTurn): void {
    const { keep, dropMiddle } = this.#statements
    const { id, startTimeMs } = member.run
    const settledMs = this.#nowMs()
    const json = JSON.stringify(member)
    this.#change(() => {
      keep.run(id, key, key, startTimeMs, settledMs, json)
      dropMiddle.run(key, key)
    })
  }

  /** The scores of these runs' conversation were delivered. A revision that came since they were read is in none of them. */
  scored({ members, readMs }: KeptConversation): void {
    const scoredMs = this.#nowMs()
    const runIds = members.map(({ run }) => run.id)
    this.#change(() => {
      for (const id of runIds) this.#statements.scored.run(scoredMs, id, readMs)
    })
  }

  /** Deletes the runs of conversations. */
  forget(keys: readonly string[]): void {
    if (keys.length > 0) this.#change(() => keys.forEach((key) => this.#statements.forget.run(key)))
  }

  /** Deletes runs that came before a time. */
  forgetBefore(timeMs: number): void {
    this.#change(() => this.#statements.forgetBefore.run(timeMs))
  }

  /** The runs of a conversation, in the order in which they came. `undefined` while the disk does not take what is to be written. */
  of(key: string): KeptConversation | undefined {
    if (this.hasChanges) this.#flush()
    if (this.hasChanges) return undefined
    const rows = this.#statements.of.all(key)
    const latest = rows.reduce((most, row) => Math.max(most, Number(row['ordinal'])), 0)
    return {
      members: rows.map((row): ConversationMember => JSON.parse(String(row['member']))),
      leftOut: latest - rows.length,
      hasBeenScored: rows.some((row) => row['scored_ms'] !== null),
      readMs: this.#nowMs(),
    }
  }

  /** All conversations of which runs are kept, in the order of their latest runs. */
  conversations(): readonly ConversationState[] {
    return this.#statements.conversations.all().map((row) => ({
      key: String(row['conversation']),
      latestMs: Number(row['latest_ms']),
      isScored: Number(row['unscored']) === 0,
    }))
  }

  #change(change: () => void): void {
    this.#changes.push(change)
    this.#onChanged()
  }
}

function prepare(database: DatabaseSync) {
  return {
    keep: database.prepare(`
      INSERT INTO turns (run_id, conversation, ordinal, start_ms, settled_ms, member)
      VALUES (?, ?, (SELECT coalesce(max(ordinal), 0) + 1 FROM turns WHERE conversation = ?), ?, ?, ?)
      ON CONFLICT (run_id) DO UPDATE SET settled_ms = excluded.settled_ms, member = excluded.member, scored_ms = NULL
    `),
    dropMiddle: database.prepare(`
      DELETE FROM turns WHERE (SELECT count(*) FROM turns WHERE conversation = ?) > ${MAX_RUNS} AND run_id =
        (SELECT run_id FROM turns WHERE conversation = ? ORDER BY start_ms LIMIT 1 OFFSET ${FIRST_RUNS})
    `),
    scored: database.prepare('UPDATE turns SET scored_ms = ? WHERE run_id = ? AND settled_ms <= ?'),
    forget: database.prepare('DELETE FROM turns WHERE conversation = ?'),
    forgetBefore: database.prepare('DELETE FROM turns WHERE settled_ms < ?'),
    of: database.prepare('SELECT ordinal, scored_ms, member FROM turns WHERE conversation = ? ORDER BY ordinal'),
    conversations: database.prepare(`
      SELECT conversation, max(settled_ms) AS latest_ms, sum(scored_ms IS NULL) AS unscored
      FROM turns GROUP BY conversation ORDER BY latest_ms
    `),
  }
}

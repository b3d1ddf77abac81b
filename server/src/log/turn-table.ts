import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { MAX_NAME_LENGTH, MAX_RUNS, shortened } from 'spanscore/engine'
import type { ConversationMember } from 'spanscore/engine'

import type { Person } from '../person.ts'

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
  /** The name of its service; empty if there is none. */
  readonly service: string
  readonly latestMs: number
  readonly isScored: boolean
}

/** Of more than `MAX_RUNS` runs of a conversation, the first ones stay. */
export const FIRST_RUNS = 5

const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Bytes of a conversation that are kept. Of more, the same runs stay as of too many. */
const MAX_BYTES = 2 * 1024 * 1024

/** The first schema of the table, which had one row for a run whose ever its conversation was. */
export const FIRST_TURN_SCHEMA = `
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

/** The schema of the table. A run belongs to the conversation of its service, so that nobody who knows its id replaces it. */
export const TURN_SCHEMA = `
  CREATE TABLE turns (
    conversation TEXT NOT NULL,
    run_id TEXT NOT NULL,
    service TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    start_ms REAL NOT NULL,
    settled_ms REAL NOT NULL,
    scored_ms REAL,
    bytes INTEGER NOT NULL,
    -- A \`ConversationMember\`, as compressed JSON: instructions and results of tools repeat.
    member BLOB NOT NULL,
    PRIMARY KEY (conversation, run_id)
  ) WITHOUT ROWID;
  CREATE INDEX turns_in_order ON turns (conversation, start_ms, bytes);
  CREATE INDEX turns_by_service ON turns (service, bytes);
`

/** Copies the rows of the first schema. */
export const TURN_MIGRATION = `
  ALTER TABLE turns RENAME TO first_turns;
  DROP INDEX turns_by_conversation;
  ${TURN_SCHEMA}
  INSERT INTO turns SELECT conversation, run_id, coalesce(json_extract(member, '$.run.resource."service.name"'), ''),
    ordinal, start_ms, settled_ms, scored_ms, length(CAST(member AS BLOB)), member FROM first_turns;
  DROP TABLE first_turns;
`

/** The instructions of runs, once for a conversation and their version. `turns.instructions` is their digest. */
export const INSTRUCTION_SCHEMA = `
  ALTER TABLE turns ADD COLUMN instructions TEXT;
  CREATE TABLE instructions (
    conversation TEXT NOT NULL,
    digest TEXT NOT NULL,
    service TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (conversation, digest)
  ) WITHOUT ROWID;
`

/** What a table of turns needs. */
export interface TurnTableParts {
  readonly database: DatabaseSync
  /** The time of the log, in milliseconds since the epoch. */
  readonly nowMs: () => number
  /** Called when there is something to write. */
  readonly onChanged: () => void
  /** Writes it now. */
  readonly flush: () => void
  /** Maximum bytes of all runs. */
  readonly maxBytes: number
  /** Whether the disk has room for more. */
  readonly hasRoom: () => boolean
}

/**
 * The runs of conversations, in a database. Changes are written in the next transaction of the log, together with the changed states of the
 * spans that the runs were made of: after a crash, either both are there or none is, and then the runs are scored again.
 */
export class TurnTable {
  readonly #parts: TurnTableParts
  readonly #statements: ReturnType<typeof prepare>
  #changes: (() => void)[] = []
  #bytes = 0
  /** Bytes of each service that has any. */
  readonly #bytesOf = new Map<string, number>()
  /** Changes of these bytes by the transaction that is being written. */
  #byteChanges: { readonly service: string; readonly bytes: number }[] = []

  constructor(parts: TurnTableParts) {
    this.#parts = parts
    this.#statements = prepare(parts.database)
    this.#byteChanges = this.#statements.bytes.all().map(toBytes)
    this.#countBytes()
  }

  /** In milliseconds since the epoch. */
  get nowMs(): number {
    return this.#parts.nowMs()
  }

  /** Bytes of all runs. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Whether a further run of a service is kept. If there are too many bytes, it is only kept of services with less than an equal part, so that
   * none takes the room of all.
   */
  hasRoomFor(service: string): boolean {
    const { maxBytes, hasRoom } = this.#parts
    if (!hasRoom()) return false
    return this.#bytes < maxBytes || (this.#bytesOf.get(service) ?? 0) < maxBytes / Math.max(2, this.#bytesOf.size)
  }

  /** Changes wait to be written. */
  get hasChanges(): boolean {
    return this.#changes.length > 0
  }

  /** Writes the changes, in a transaction. After it, `written` must be called. */
  write(): void {
    this.#byteChanges = []
    for (const change of this.#changes) change()
  }

  written(): void {
    this.#changes = []
    this.#countBytes()
  }

  /** Keeps a run. It replaces an earlier revision of the run. */
  keep({ key, member }: KeptTurn): void {
    const { before, keep, size, dropMiddle, instruct, dropInstructions } = this.#statements
    const { systemInstructions, ...run } = member.run
    const service = serviceOf(member)
    const settledMs = this.nowMs
    const packed = packedJson({ ...member, run })
    const bytes = packed.byteLength
    const told = systemInstructions === undefined ? undefined : packedJson(systemInstructions)
    const digest = told === undefined ? null : createHash('sha256').update(told).digest('hex').slice(0, 32)
    this.#change(() => {
      this.#freed(before.all(key, run.id))
      keep.run(key, run.id, service, key, run.startTimeMs, settledMs, bytes, packed, digest)
      this.#byteChanges.push({ service, bytes })
      if (told !== undefined && instruct.run(key, digest, service, told.byteLength, told).changes > 0)
        this.#byteChanges.push({ service, bytes: told.byteLength })
      this.#freed(dropInstructions.all(key, key))
      for (;;) {
        const { runs = 0, bytes: kept = 0 } = size.get(key, key) ?? {}
        if (Number(runs) <= FIRST_RUNS + 1 || (Number(runs) <= MAX_RUNS && Number(kept) <= MAX_BYTES)) break
        this.#freed(dropMiddle.all(key, key))
        this.#freed(dropInstructions.all(key, key))
      }
    })
  }

  /** A further run of the conversation is not kept. */
  leaveOut(key: string): void {
    this.#change(() => this.#statements.leaveOut.run(key, key))
  }

  /** The scores of these runs' conversation were delivered. A revision that came since they were read is in none of them. */
  scored(key: string, { members, readMs }: KeptConversation): void {
    const scoredMs = this.nowMs
    const runIds = members.map(({ run }) => run.id)
    this.#change(() => {
      for (const id of runIds) this.#statements.scored.run(scoredMs, key, id, readMs)
    })
  }

  /** Deletes the runs of conversations. */
  forget(keys: readonly string[]): void {
    const { forget, forgetInstructions } = this.#statements
    if (keys.length === 0) return
    this.#change(() => {
      for (const statement of [forget, forgetInstructions]) for (const key of keys) this.#freed(statement.all(key))
    })
  }

  /** Deletes runs that came before a time. */
  forgetBefore(timeMs: number): void {
    const { forgetBefore, forgetUnused } = this.#statements
    this.#change(() => {
      this.#freed(forgetBefore.all(timeMs))
      this.#freed(forgetUnused.all())
    })
  }

  /** The runs of a conversation, in the order in which they came. `undefined` while the disk does not take what is to be written. */
  of(key: string): KeptConversation | undefined {
    if (this.hasChanges) this.#parts.flush()
    if (this.hasChanges) return undefined
    const rows = this.#statements.of.all(key)
    const latest = rows.reduce((most, row) => Math.max(most, Number(row['ordinal'])), 0)
    return {
      members: rows.map(toMember),
      leftOut: latest - rows.length,
      hasBeenScored: rows.some((row) => row['scored_ms'] !== null),
      readMs: this.nowMs,
    }
  }

  /** The kept runs of a person, with the conversations that they are part of. */
  find(person: Person): readonly { readonly key: string; readonly traceId: string }[] {
    if ('trace' in person) return this.ofTraces(new Set([person.trace]))
    const isWanted =
      'user' in person
        ? ({ run }: ConversationMember) => run.userId === shortened(person.user, MAX_NAME_LENGTH)
        : ({ run }: ConversationMember) => run.conversationId === shortened(person.conversation, MAX_NAME_LENGTH)
    const isKey = (key: string): boolean => 'conversation' in person && key === person.conversation
    return this.#places(this.#statements.members, (key, row) => isKey(key) || isWanted(memberIn(row['member'])))
  }

  /** The kept runs of traces. */
  ofTraces(traceIds: ReadonlySet<string>): readonly { readonly key: string; readonly traceId: string }[] {
    return this.#places(this.#statements.ids, (_, row) => traceIds.has(traceOf(row)))
  }

  #places(
    rows: { readonly iterate: () => Iterable<Row> },
    isWanted: (key: string, row: Row) => boolean,
  ): readonly { readonly key: string; readonly traceId: string }[] {
    if (this.hasChanges) this.#parts.flush()
    const found: { readonly key: string; readonly traceId: string }[] = []
    for (const row of rows.iterate()) {
      const key = String(row['conversation'])
      if (isWanted(key, row)) found.push({ key, traceId: traceOf(row) })
    }
    return found
  }

  /** All conversations of which runs are kept, in the order of their latest runs. */
  conversations(): readonly ConversationState[] {
    return this.#statements.conversations.all().map((row) => ({
      key: String(row['conversation']),
      service: String(row['service']),
      latestMs: Number(row['latest_ms']),
      isScored: Number(row['unscored']) === 0,
    }))
  }

  #change(change: () => void): void {
    this.#changes.push(change)
    this.#parts.onChanged()
  }

  #freed(rows: readonly Row[]): void {
    for (const { service, bytes } of rows.map(toBytes)) this.#byteChanges.push({ service, bytes: -bytes })
  }

  #countBytes(): void {
    for (const { service, bytes } of this.#byteChanges) {
      this.#bytes += bytes
      const ofService = (this.#bytesOf.get(service) ?? 0) + bytes
      if (ofService > 0) this.#bytesOf.set(service, ofService)
      else this.#bytesOf.delete(service)
    }
    this.#byteChanges = []
  }
}

/** The name of a run's service; empty if there is none. */
export function serviceOf({ run }: ConversationMember): string {
  const name = run.resource['service.name']
  return typeof name === 'string' ? name : ''
}

/** An id of a run begins with that of its trace. */
function traceOf(row: Row): string {
  return String(row['run_id']).split(':')[0] ?? ''
}

function toMember({ member: packed, text }: Row): ConversationMember {
  const member = memberIn(packed)
  const systemInstructions = text === null ? member.run.systemInstructions : String(unpacked(text))
  return { ...member, run: { ...member.run, systemInstructions } }
}

function memberIn(packed: unknown): ConversationMember {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `keep` wrote it
  return unpacked(packed) as ConversationMember
}

function packedJson(value: unknown): Buffer {
  return zstdCompressSync(JSON.stringify(value), FASTEST)
}

/** Rows of the first schema are texts. */
function unpacked(packed: unknown): unknown {
  return JSON.parse(packed instanceof Uint8Array ? zstdDecompressSync(packed).toString() : String(packed))
}

type Row = Readonly<Record<string, unknown>>

function toBytes(row: Row): { readonly service: string; readonly bytes: number } {
  return { service: String(row['service']), bytes: Number(row['bytes']) }
}

function prepare(database: DatabaseSync) {
  return {
    bytes: database.prepare(`
      SELECT service, sum(bytes) AS bytes
      FROM (SELECT service, bytes FROM turns UNION ALL SELECT service, bytes FROM instructions) GROUP BY service
    `),
    before: database.prepare('SELECT service, bytes FROM turns WHERE conversation = ? AND run_id = ?'),
    keep: database.prepare(`
      INSERT INTO turns (conversation, run_id, service, ordinal, start_ms, settled_ms, bytes, member, instructions)
      VALUES (?, ?, ?, (SELECT coalesce(max(ordinal), 0) + 1 FROM turns WHERE conversation = ?), ?, ?, ?, ?, ?)
      ON CONFLICT (conversation, run_id) DO UPDATE SET
        service = excluded.service, settled_ms = excluded.settled_ms, bytes = excluded.bytes, member = excluded.member,
        instructions = excluded.instructions, scored_ms = NULL
    `),
    instruct: database.prepare('INSERT OR IGNORE INTO instructions VALUES (?, ?, ?, ?, ?)'),
    dropInstructions: database.prepare(`
      DELETE FROM instructions WHERE conversation = ?
        AND digest NOT IN (SELECT instructions FROM turns WHERE conversation = ? AND instructions IS NOT NULL)
      RETURNING service, bytes
    `),
    size: database.prepare(`
      SELECT count(*) AS runs, sum(bytes) + (SELECT coalesce(sum(bytes), 0) FROM instructions WHERE conversation = ?) AS bytes
      FROM turns WHERE conversation = ?
    `),
    dropMiddle: database.prepare(`
      DELETE FROM turns WHERE conversation = ? AND run_id =
        (SELECT run_id FROM turns WHERE conversation = ? ORDER BY start_ms LIMIT 1 OFFSET ${FIRST_RUNS})
      RETURNING service, bytes
    `),
    ids: database.prepare('SELECT conversation, run_id FROM turns'),
    members: database.prepare('SELECT conversation, run_id, member FROM turns'),
    leaveOut: database.prepare(`
      UPDATE turns SET ordinal = ordinal + 1
      WHERE conversation = ? AND ordinal = (SELECT max(ordinal) FROM turns WHERE conversation = ?)
    `),
    scored: database.prepare(
      'UPDATE turns SET scored_ms = ? WHERE conversation = ? AND run_id = ? AND settled_ms <= ?',
    ),
    forget: database.prepare('DELETE FROM turns WHERE conversation = ? RETURNING service, bytes'),
    forgetInstructions: database.prepare('DELETE FROM instructions WHERE conversation = ? RETURNING service, bytes'),
    forgetUnused: database.prepare(`
      DELETE FROM instructions WHERE NOT EXISTS
        (SELECT 1 FROM turns WHERE turns.conversation = instructions.conversation AND turns.instructions = digest)
      RETURNING service, bytes
    `),
    forgetBefore: database.prepare('DELETE FROM turns WHERE settled_ms < ? RETURNING service, bytes'),
    of: database.prepare(`
      SELECT ordinal, scored_ms, member, text
      FROM turns LEFT JOIN instructions ON instructions.conversation = turns.conversation AND digest = instructions
      WHERE turns.conversation = ? ORDER BY ordinal
    `),
    conversations: database.prepare(`
      SELECT conversation, service, max(settled_ms) AS latest_ms, sum(scored_ms IS NULL) AS unscored
      FROM turns GROUP BY conversation ORDER BY latest_ms
    `),
  }
}

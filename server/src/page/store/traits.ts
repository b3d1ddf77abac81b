import type { DatabaseSync } from 'node:sqlite'

import { BoundedMap } from 'spanscore/engine'
import type { Trait } from 'spanscore/engine'

import { all, first, run as execute } from './page-database.ts'

/** Maximum number of different values of a key that are stored; further ones are `other`. */
const MAX_VALUES = 1000

/** Maximum number of different keys; traits with further ones are left out. */
const MAX_KEYS = 500

const OTHER = 'other'

/** How many ids are remembered, to save a look-up. */
const MAX_REMEMBERED = 20_000

/** Stores the traits of runs. */
export class TraitStore {
  readonly #database: DatabaseSync
  #ids = new BoundedMap<string, number>(MAX_REMEMBERED)
  /** The deletions that have happened when the ids were looked up: an id that was deleted is given to no trait again. */
  #deletions = 0

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Stores the traits of a run, in place of those of an earlier revision. */
  save(runSeq: number, traits: readonly Pick<Trait, 'key' | 'value'>[]): void {
    const deletions = deletionsOf.get(this.#database) ?? 0
    if (deletions !== this.#deletions) this.#ids = new BoundedMap(MAX_REMEMBERED)
    this.#deletions = deletions
    const ids = new Set(traits.flatMap((trait) => this.#idOf(trait) ?? []))
    const text = `,${[...ids].join(',')},`
    execute(
      this.#database,
      'INSERT OR REPLACE INTO run_traits (run_seq, traits, bytes) VALUES (?, ?, ?)',
      runSeq,
      text,
      text.length,
    )
  }

  #idOf({ key, value }: Pick<Trait, 'key' | 'value'>): number | undefined {
    const name = `${key}\n${value}`
    let id = this.#ids.get(name)
    if (id === undefined) {
      id = this.#find(key, value) ?? this.#add(key, value)
      if (id !== undefined) this.#ids.set(name, id)
    }
    return id
  }

  #find(key: string, value: string): number | undefined {
    const sql = 'SELECT id FROM traits WHERE key = ? AND value = ?'
    return first<{ id: number }>(this.#database, sql, key, value)?.id
  }

  #add(key: string, value: string): number | undefined {
    const count = (sql: string, ...given: string[]) => first<{ n: number }>(this.#database, sql, ...given)?.n ?? 0
    const values = count('SELECT count(*) AS n FROM traits WHERE key = ?', key)
    if (values === 0 && count('SELECT count(DISTINCT key) AS n FROM traits') >= MAX_KEYS) return undefined
    if (values >= MAX_VALUES && value !== OTHER) return this.#find(key, OTHER) ?? this.#add(key, OTHER)
    const sql = 'INSERT INTO traits (key, value) VALUES (?, ?) RETURNING id'
    return first<{ id: number }>(this.#database, sql, key, value)?.id
  }
}

/** How often traits of a database were deleted. */
const deletionsOf = new WeakMap<DatabaseSync, number>()

/** Estimated bytes of a trait in its table and index. */
const TRAIT_BYTES = 120

/**
 * Deletes a chunk of the oldest runs' traits if all take too many bytes. The runs stay.
 *
 * @returns how many runs lost their traits
 */
export function forgetTraits(database: DatabaseSync, maxBytes: number, chunk: number): number {
  const sums = first<{ bytes: number; traits: number }>(
    database,
    'SELECT (SELECT total(bytes + 16) FROM run_traits) AS bytes, (SELECT count(*) FROM traits) AS traits',
  )
  if (sums === undefined || sums.bytes + TRAIT_BYTES * sums.traits <= maxBytes) return 0
  return execute(
    database,
    'DELETE FROM run_traits WHERE run_seq IN (SELECT run_seq FROM run_traits ORDER BY run_seq LIMIT ?)',
    chunk,
  )
}

/** Runs whose traits one step reads. */
const STEP = 5000

/** Deletes traits that no run has any more, such as words of questions that were deleted, in steps. */
export class UnusedTraits {
  readonly #database: DatabaseSync
  readonly #used = new Set<number>()
  readonly #latest: number
  #after = 0

  constructor(database: DatabaseSync) {
    this.#database = database
    this.#latest = first<{ id: number | null }>(database, 'SELECT max(id) AS id FROM traits')?.id ?? 0
  }

  /** Does one step. @returns whether there are more */
  step(): boolean {
    const rows = all<{ run_seq: number; traits: string }>(
      this.#database,
      `SELECT run_seq, traits FROM run_traits WHERE run_seq > ? ORDER BY run_seq LIMIT ${STEP}`,
      this.#after,
    )
    for (const { traits } of rows) for (const id of idsIn(traits)) this.#used.add(id)
    const last = rows.at(-1)
    if (last !== undefined) {
      this.#after = last.run_seq
      return true
    }
    execute(
      this.#database,
      'DELETE FROM traits WHERE id <= ? AND id NOT IN (SELECT value FROM json_each(?))',
      this.#latest,
      JSON.stringify([...this.#used]),
    )
    deletionsOf.set(this.#database, (deletionsOf.get(this.#database) ?? 0) + 1)
    return false
  }
}

/** The ids in a row of `run_traits`. */
export function idsIn(traits: string): readonly number[] {
  const ids: number[] = []
  let id = 0
  for (let index = 1; index < traits.length; index++) {
    const digit = traits.charCodeAt(index) - 48
    if (digit >= 0) id = id * 10 + digit
    else {
      if (id > 0) ids.push(id)
      id = 0
    }
  }
  return ids
}

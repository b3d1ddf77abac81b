import { expect, it } from 'vitest'

import { createRandom } from '../../../test/fuzz/random.ts'
import type { Random } from '../../../test/fuzz/random.ts'
import { EMITTED } from '../log/record-states.ts'
import type { DecodedRecord } from '../log/span-log.ts'
import { AssignedCommits } from './assigned-commits.ts'
import { Commits } from './commits.ts'
import { LongCommits } from './long-commits.ts'
import type { Commit } from './offset-states.ts'
import { PartitionLog } from './partition-log.ts'
import type { NewMessage } from './record-writer.ts'
import { COMMIT_HEADER } from './records-of.ts'
import type { FetchedRecord } from './records-of.ts'
import { noCounts } from './worker-counts.ts'

const TOPIC = 'spans'
const PARTS = 3
const NONE: Commit = { offset: 0, metadata: '' }

/** A message with one part of a trace, or a part of a commit. */
type Message = { readonly traceId: string; readonly part: number } | FetchedRecord

/** A partition, the group's commit of it, and what is known of both by somebody who sees everything. */
class World {
  readonly random: Random
  readonly messages: Message[] = []
  readonly waiting: { readonly traceId: string; readonly part: number }[][] = []
  commit = NONE
  generation = 0
  /** Delivered scores, and those whose delivery an accepted commit knows of. */
  readonly scored = new Set<string>()
  readonly committed = new Set<string>()
  readonly scoredTwice: string[] = []
  long = 0

  constructor(seed: number) {
    this.random = createRandom(seed)
  }

  /** Appends what an owner writes. The broker and the owner may go away at any moment. */
  append(messages: readonly NewMessage[]): Promise<number> {
    const offset = this.messages.length
    const add = () => {
      for (const { value, headers = {} } of messages) {
        const at = this.messages.length
        this.messages.push({ offset: at, appendMs: 0, key: '', value, headers: new Map(Object.entries(headers)) })
      }
    }
    const fate = this.random.next()
    if (fate < 0.8 || fate > 0.95) add()
    if (fate < 0.8) return Promise.resolve(offset)
    if (fate < 0.9) return Promise.reject(new Error('The broker has gone.'))
    return new Promise(() => undefined)
  }

  recordAt(offset: number): FetchedRecord | undefined {
    const found = this.messages[offset]
    return found !== undefined && 'headers' in found ? found : undefined
  }
}

/** A worker that owns the partition until it is killed. */
class Owner {
  readonly #world: World
  readonly #generation: number
  readonly #long: LongCommits
  readonly #log: PartitionLog
  readonly #commits: Commits
  readonly #held = new Map<string, Map<number, { readonly offset: number; isEmitted: boolean }>>()
  /** By the text of a commit, the scores that were delivered when it was taken. */
  readonly #deliveredAt = new Map<string, readonly string[]>()
  readonly #delivered: string[] = []

  constructor(world: World, commits: ReadonlyMap<string, Commit>, long: LongCommits) {
    this.#world = world
    this.#generation = world.generation
    this.#long = long
    this.#log = new PartitionLog(new Map([[TOPIC, commits.get(TOPIC) ?? NONE]]), () => 0)
    this.#log.read((records) => {
      for (const { offset, decoded, states } of records) {
        const span = decoded?.spans[0]
        if (span === undefined) continue
        const parts = this.#held.get(span.traceId) ?? new Map()
        this.#held.set(span.traceId, parts.set(Number(span.spanId), { offset, isEmitted: states?.[0] === EMITTED }))
      }
    })
    const log = {
      commits: () => {
        const cut = this.#log.commits()
        this.#deliveredAt.set(textOf(cut.get(TOPIC)), [...this.#delivered])
        return cut
      },
    }
    this.#commits = new Commits({
      member: { generation: world.generation, commit: (positions) => this.#accept(positions.get(TOPIC)?.[0] ?? NONE) },
      long,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what commits use of it
      partitions: new Map([[0, { log: log as PartitionLog }]]),
      counts: noCounts(),
      report: () => undefined,
      now: () => 0,
    })
  }

  /** Takes over, as a worker does to which the group assigns the partition. */
  static async takeOver(world: World): Promise<Owner> {
    world.generation += 1
    const long = new LongCommits({
      writer: { append: (_topic, _partition, messages) => world.append(messages) },
      recordAt: (_topic, _partition, offset) => Promise.resolve(world.recordAt(offset)),
      maxLength: 16,
    })
    const assigned = new AssignedCommits({
      member: { committed: () => Promise.resolve(world.commit) },
      long,
      topics: [TOPIC],
      report: () => undefined,
    })
    return new Promise((resolve) => {
      void assigned.read(0, (commits) => resolve(new Owner(world, commits, long)))
    })
  }

  get held(): ReadonlyMap<string, ReadonlyMap<number, unknown>> {
    return this.#held
  }

  read(limit: number): void {
    const { messages } = this.#world
    for (let count = 0; count < limit; count++) {
      const position = this.#log.nextOf(TOPIC)
      const message = messages[position]
      if (message === undefined) return
      if ('headers' in message) this.#log.advance(TOPIC, position + 1)
      else if (this.#log.stateBefore(TOPIC, position) === 'finished') this.#log.pass(TOPIC, position)
      else this.#log.receive(TOPIC, position, recordOf(message))
    }
  }

  /** Scores complete traces, in any order. Some are no longer needed then. */
  score(): void {
    const { random, scored, committed, scoredTwice } = this.#world
    for (const [traceId, parts] of this.#held) {
      const isOpen = [...parts.values()].some(({ isEmitted }) => !isEmitted)
      if (!isOpen || parts.size < PARTS || random.chance(0.5)) continue
      if (committed.has(traceId)) scoredTwice.push(traceId)
      scored.add(traceId)
      this.#delivered.push(traceId)
      for (const part of parts.values()) part.isEmitted = true
      const offsets = [...parts.values()].map(({ offset }) => offset)
      const states = new Map(offsets.map((offset) => [offset, new Uint8Array([EMITTED])]))
      this.#log.update({ finished: [], states })
      if (random.chance(0.5)) continue
      this.#log.update({ finished: offsets, states: new Map() })
      this.#held.delete(traceId)
    }
  }

  commit(): void {
    void this.#commits.commit()
  }

  async #accept(commit: Commit): Promise<void> {
    const world = this.#world
    if (this.#generation !== world.generation || world.random.chance(0.1)) throw new Error('ILLEGAL_GENERATION')
    const { offset, metadata } = commit
    world.commit = { offset, metadata }
    if (this.#long.isElsewhere(commit)) world.long += 1
    const whole = await this.#long.read(TOPIC, 0, world.commit)
    for (const traceId of this.#deliveredAt.get(textOf(whole)) ?? []) world.committed.add(traceId)
  }
}

function textOf(commit: Commit | undefined): string {
  return `${commit?.offset} ${commit?.metadata}`
}

function recordOf({ traceId, part }: { readonly traceId: string; readonly part: number }) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these properties are read
  const decoded = { spans: [{ traceId, spanId: String(part) }], logs: [] } as unknown as DecodedRecord
  return { signal: 'traces', encoding: 'protobuf', contentEncoding: '', body: new Uint8Array(9), decoded } as const
}

it('loses no trace, splits none, and repeats no score that a commit knows of, whenever and wherever owners are killed', async () => {
  const sums = { kills: 0, long: 0, committed: 0 }
  for (let seed = 1; seed <= 300; seed++) {
    const world = new World(seed)
    const { random } = world
    const traceIds = Array.from({ length: 40 }, (_, index) => `trace-${index}`)
    // Parts of several traces alternate without a pattern.
    for (const traceId of traceIds) {
      world.waiting.push(Array.from({ length: PARTS }, (_, part) => ({ traceId, part })))
    }
    let owner = await Owner.takeOver(world)
    let former = owner
    for (let step = 0; step < 250; step++) {
      const [message] = random.chance(0.9) ? random.pick(world.waiting).splice(0, 1) : []
      if (message !== undefined) world.messages.push(message)
      owner.read(random.integer(20))
      if (random.chance(0.5)) owner.score()
      if (random.chance(0.3)) owner.commit()
      // A process that does not know yet that it has lost the partition.
      if (random.chance(0.1)) former.commit()
      // What was begun may end before the next step, or after it.
      if (random.chance(0.7)) await new Promise((resolve) => setImmediate(resolve))
      if (!random.chance(0.05)) continue
      former = owner
      owner = await Owner.takeOver(world)
      sums.kills += 1
    }
    world.messages.push(...world.waiting.flat())
    owner = await Owner.takeOver(world)
    owner.read(Infinity)
    for (const [traceId, parts] of owner.held) expect(parts.size, `seed ${seed}: all of ${traceId}`).toBe(PARTS)
    while (world.scored.size < traceIds.length && owner.held.size > 0) {
      const before = world.scored.size
      for (let count = 0; count < 50; count++) owner.score()
      if (world.scored.size === before) break
    }
    expect(world.scored.size, `seed ${seed}: every trace is scored`).toBe(traceIds.length)
    expect(world.scoredTwice, `seed ${seed}: nothing is scored that a commit knows as scored`).toEqual([])
    sums.long += world.long
    sums.committed += world.committed.size
  }
  expect(sums.kills).toBeGreaterThan(3000)
  expect(sums.long).toBeGreaterThan(5000)
  expect(sums.committed).toBeGreaterThan(5000)
}, 120_000)

/** Long commits on a partition that keeps what is appended. */
function setUp() {
  const records: (FetchedRecord | undefined)[] = []
  const long = new LongCommits({
    writer: {
      append: (_topic, _partition, [message]) => {
        const headers = new Map(Object.entries(message?.headers ?? {}))
        const offset = 1_000_000 + records.length
        records.push({ offset, appendMs: 0, key: '', value: new Uint8Array(), headers })
        return Promise.resolve(offset)
      },
    },
    recordAt: (_topic, _partition, offset) => Promise.resolve(records[offset - 1_000_000]),
  })
  return { records, long }
}

it('writes metadata of any length in messages of limited size, once for each commit, and reads it again', async () => {
  const { records, long } = setUp()
  const commit = { offset: 7, metadata: `1${'0123456789'.repeat(100_000)}` }
  expect(long.isLong(commit)).toBe(true)
  const short = await long.write(TOPIC, 0, commit)
  expect(await long.write(TOPIC, 0, commit)).toBe(short)
  expect(records).toHaveLength(4)
  for (const record of records) expect(record?.headers.get(COMMIT_HEADER)?.length).toBeLessThan(263_000)
  expect(long.isLong(short)).toBe(false)
  expect(long.isElsewhere(short)).toBe(true)
  expect(await long.read(TOPIC, 0, short)).toEqual(commit)
})

it('leaves a commit as it is whose message is gone, or belongs to another commit', async () => {
  const { records, long } = setUp()
  const short = await long.write(TOPIC, 0, { offset: 7, metadata: `1${'x'.repeat(5000)}` })
  const other = { ...short, offset: 8 }
  expect(await long.read(TOPIC, 0, other)).toBe(other)
  records[0] = undefined
  expect(await long.read(TOPIC, 0, short)).toBe(short)
  expect(await long.read(TOPIC, 0, NONE)).toBe(NONE)
})

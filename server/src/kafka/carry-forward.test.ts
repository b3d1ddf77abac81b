import { expect, it } from 'vitest'

import { createRandom } from '../../../test/fuzz/random.ts'
import { EMITTED } from '../log/record-states.ts'
import type { DecodedRecord } from '../log/span-log.ts'
import { CARRIED_HEADER, SEEN_HEADER } from './assigned-partition.ts'
import { CarryForward, holdingBackBefore } from './carry-forward.ts'
import type { Commit } from './offset-states.ts'
import { PartitionLog } from './partition-log.ts'
import type { NewMessage } from './record-writer.ts'
import { Refusals } from './refusals.ts'

const TOPIC = 'spans'
const PARTS = 3
/** So large that a few messages fill a request. Carrying then takes several requests, and a process can be killed between two. */
const BODY = new Uint8Array(200_000)

/** A message with one part of a trace. */
interface Message {
  readonly traceId: string
  readonly part: number
  readonly from?: number
  readonly seenMs?: number
}

/** A partition with its messages, and what its owners do to it until they are killed. */
class Partition {
  readonly messages: Message[] = []
  readonly next: () => number
  commit: Commit = { offset: 0, metadata: '' }
  /** Copies that a process sent before it was killed, and that have not arrived yet. */
  readonly onTheWay: (readonly Message[])[] = []
  #nowMs = 1_000_000

  constructor(seed: number) {
    const random = createRandom(seed)
    this.next = () => random.next()
  }

  get nowMs(): number {
    return (this.#nowMs += 1)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }
}

/** A process that owns the partition, with the parts that it holds of each trace and what it has done with them. */
class Owner {
  readonly #partition: Partition
  readonly #log: PartitionLog
  readonly #carryForward: CarryForward
  /** For each trace, the offsets of its parts in the log, and whether they were scored before. */
  readonly held = new Map<string, Map<number, { readonly offset: number; isEmitted: boolean }>>()
  readonly #scored: string[] = []

  constructor(partition: Partition) {
    this.#partition = partition
    this.#log = new PartitionLog(new Map([[TOPIC, partition.commit]]), () => partition.nowMs)
    this.#log.read((records) => {
      for (const { offset, decoded, states } of records) {
        const span = decoded?.spans[0]
        if (span === undefined) continue
        const parts = this.held.get(span.traceId) ?? new Map()
        this.held.set(span.traceId, parts.set(Number(span.spanId), { offset, isEmitted: states?.[0] === EMITTED }))
      }
    })
    this.#carryForward = new CarryForward({
      writer: { append: (_topic, _partition, messages) => this.#append(messages) },
      carryAfterMs: 0,
      refusals: new Refusals(() => 0),
      report: () => undefined,
    })
  }

  /** Reads at most this many messages, as an assigned partition does. */
  read(limit: number): void {
    const { messages } = this.#partition
    for (let count = 0; count < limit; count++) {
      const position = this.#log.nextOf(TOPIC)
      const message = messages[position]
      if (message === undefined) return
      if (this.#log.stateBefore(TOPIC, position) === 'finished') {
        this.#log.pass(TOPIC, position)
        continue
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these properties are read
      const decoded = {
        spans: [{ traceId: message.traceId, spanId: String(message.part) }],
        logs: [],
      } as unknown as DecodedRecord
      const record = { signal: 'traces', encoding: 'protobuf', contentEncoding: '', body: BODY, decoded } as const
      this.#log.receive(TOPIC, position, record, message)
    }
  }

  /** Scores the traces that are complete. @returns Their ids */
  score(): readonly string[] {
    const whole = [...this.held].filter(
      ([, parts]) => parts.size === PARTS && [...parts.values()].some(({ isEmitted }) => !isEmitted),
    )
    for (const [traceId, parts] of whole) {
      for (const part of parts.values()) part.isEmitted = true
      this.#scored.push(traceId)
    }
    return whole.map(([traceId]) => traceId)
  }

  /** Some scores are acknowledged, and some traces are finished. */
  settle(): void {
    for (const traceId of this.#scored.splice(0, Math.ceil(this.#partition.next() * 3))) {
      const offsets = [...(this.held.get(traceId)?.values() ?? [])].map(({ offset }) => offset)
      this.#log.update({
        finished: [],
        states: new Map(offsets.map((offset) => [offset, new Uint8Array([EMITTED])])),
      })
      if (this.#partition.chance(0.4)) continue
      this.#log.update({ finished: offsets, states: new Map() })
      this.held.delete(traceId)
    }
  }

  commit(): void {
    this.#partition.commit = this.#log.commits().get(TOPIC) ?? this.#partition.commit
  }

  carry(): void {
    void this.#carryForward.run(0, this.#log, this.#partition.nowMs)
  }

  #append(messages: readonly NewMessage[]): Promise<number> {
    const copies = messages.map(({ key = '', headers }) => {
      const from = Number(headers?.[CARRIED_HEADER])
      const { part } = this.#partition.messages[from] ?? { part: -1 }
      return { traceId: key, part, from, seenMs: Number(headers?.[SEEN_HEADER]) }
    })
    const fate = this.#partition.next()
    if (fate < 0.5) this.#partition.messages.push(...copies)
    if (fate < 0.6) return Promise.resolve(0)
    if (fate < 0.7) this.#partition.messages.push(...copies)
    if (fate < 0.8) return Promise.reject(new Error('The broker has gone.'))
    // The process is killed before it receives the answer. The copies arrive later, or never.
    if (fate < 0.9) this.#partition.onTheWay.push(copies)
    return new Promise(() => undefined)
  }
}

it('loses and splits no trace when processes are killed while they carry messages forward', async () => {
  let [carried, kills] = [0, 0]
  for (let seed = 1; seed <= 300; seed++) {
    const partition = new Partition(seed)
    const waiting = Array.from({ length: 12 }, (_, trace) =>
      Array.from({ length: PARTS }, (__, part) => ({ traceId: `trace-${trace}`, part })),
    )
    const scored = new Set<string>()
    let owner = new Owner(partition)
    for (let step = 0; step < 150; step++) {
      const ofTrace = waiting[Math.floor(partition.next() * waiting.length)]
      const part = partition.chance(0.4) ? ofTrace?.shift() : undefined
      if (part !== undefined) partition.messages.push(part)
      owner.read(Math.floor(partition.next() * 4))
      for (const traceId of owner.score()) scored.add(traceId)
      if (partition.chance(0.5)) owner.settle()
      if (partition.chance(0.3)) owner.commit()
      if (partition.chance(0.15)) owner.carry()
      // The requests may or may not be acknowledged before the next step.
      await Promise.resolve()
      if (partition.chance(0.04)) {
        owner = new Owner(partition)
        kills += 1
      }
      if (partition.chance(0.1)) partition.messages.push(...(partition.onTheWay.shift() ?? []))
    }
    partition.messages.push(...waiting.flat(), ...partition.onTheWay.flat())
    owner = new Owner(partition)
    owner.read(Infinity)
    for (const traceId of owner.score()) scored.add(traceId)
    expect(scored.size, `seed ${seed}: every trace is scored`).toBe(waiting.length)
    for (const [traceId, parts] of owner.held) {
      expect(parts.size, `seed ${seed}: all of ${traceId} is there, or nothing`).toBe(PARTS)
    }
    carried += partition.messages.filter(({ from }) => from !== undefined).length
  }
  expect(carried).toBeGreaterThan(1000)
  expect(kills).toBeGreaterThan(1000)
}, 120_000)

it('appends a message again once until it has come back, and once more if the broker refused it', async () => {
  const appended: string[] = []
  let isRefused = true
  const carryForward = new CarryForward({
    writer: {
      append: (_topic, _partition, messages) => {
        appended.push(...messages.map(({ headers }) => headers?.[CARRIED_HEADER] ?? ''))
        return isRefused ? Promise.reject(new Error('refused')) : Promise.resolve(0)
      },
    },
    carryAfterMs: 1000,
    refusals: new Refusals(() => 0),
    report: () => undefined,
  })
  const log = new PartitionLog(new Map([[TOPIC, { offset: 0, metadata: '' }]]), () => 0)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these properties are read
  const decoded = { spans: [{ traceId: 'trace', spanId: '0' }], logs: [] } as unknown as DecodedRecord
  const record = { signal: 'traces', encoding: 'protobuf', contentEncoding: '', body: BODY, decoded } as const
  log.receive(TOPIC, 0, record)
  for (const nowMs of [1000, 1001]) expect(await carryForward.run(0, log, nowMs)).toBe(0)
  isRefused = false
  for (const count of [1, 0]) expect(await carryForward.run(0, log, 1002)).toBe(count)
  // It keeps its age. So it is appended again as soon as it has come back.
  log.receive(TOPIC, 1, record, { from: 0, seenMs: 0 })
  expect(await carryForward.run(0, log, 1003)).toBe(1)
  expect(appended).toEqual(['0', '0', '1'])
})

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

it('finds the few messages that hold back many, and none where all messages are needed', () => {
  expect(holdingBackBefore([], 1e6)).toBe(0)
  expect(holdingBackBefore(range(0, 100_000), 100_000)).toBe(0)
  // Ten open messages, many that are finished, and then many that are open, too.
  expect(holdingBackBefore(range(0, 10), 19_999)).toBe(0)
  expect(holdingBackBefore(range(0, 10), 20_000)).toBe(20_000)
  expect(holdingBackBefore([...range(0, 10), ...range(30_000, 90_000)], 90_000)).toBe(30_000)
  expect(holdingBackBefore([...range(0, 2000), ...range(30_000, 90_000)], 90_000)).toBe(0)
})

import { expect, it } from 'vitest'

import { EMITTED } from '../log/record-states.ts'
import type { DecodedRecord, LogRecord } from '../log/span-log.ts'
import type { Commit } from './offset-states.ts'
import { PartitionLog } from './partition-log.ts'

const TOPIC = 'spans'

function open(commit: Commit) {
  const log = new PartitionLog(new Map([[TOPIC, commit]]), () => 1_000_000)
  const held: LogRecord[] = []
  log.read((records) => held.push(...records))
  /** @param from The earlier position of a message that was appended again. */
  const receive = (position: number, traceId: string, from?: number) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these properties are read
    const decoded = { spans: [{ traceId, spanId: traceId }], logs: [] } as unknown as DecodedRecord
    const record = { signal: 'traces', encoding: 'protobuf', contentEncoding: '', body: new Uint8Array() } as const
    log.receive(TOPIC, position, { ...record, decoded }, { from, seenMs: from === undefined ? undefined : 500_000 })
  }
  const states = () => held.map(({ decoded, states: [state] = [] }) => [decoded?.spans[0]?.traceId, state])
  return { log, receive, states }
}

function finish(log: PartitionLog, offset: number): void {
  log.update({ finished: [offset], states: new Map() })
}

/** The commit of an owner that has an open message, a scored one and eight finished ones. */
function committed(): Commit {
  const { log, receive } = open({ offset: 0, metadata: '' })
  for (let position = 0; position < 10; position++) receive(position, `trace-${position}`)
  log.update({ finished: [], states: new Map([[2, new Uint8Array([EMITTED])]]) })
  for (let offset = 3; offset <= 10; offset++) finish(log, offset)
  return log.commits().get(TOPIC) ?? { offset: -1, metadata: '' }
}

it('counts what the broker dropped, apart from what was scored before', () => {
  const commit = committed()
  expect(open(commit).log.skipTo(TOPIC, 10)).toBe(1)
  expect(open(commit).log.skipTo(TOPIC, 15)).toBe(6)
  // Of an unknown state, all may be lost.
  expect(open({ offset: 0, metadata: 'other' }).log.skipTo(TOPIC, 15)).toBe(15)
  const { log, receive } = open(commit)
  for (let position = 0; position < 4; position++) receive(position, `trace-${position}`)
  expect(log.skipTo(TOPIC, 15)).toBe(5)
})

it('takes the copy of a message that the broker has dropped, once, in the state of the message', () => {
  const { log, receive, states } = open(committed())
  log.skipTo(TOPIC, 15)
  for (const position of [15, 16]) receive(position, 'trace-0', 0)
  receive(17, 'trace-1', 1)
  // Its runs are finished.
  receive(18, 'trace-5', 5)
  expect(states()).toEqual([
    ['trace-0', undefined],
    ['trace-1', EMITTED],
  ])
})

it('takes no copy of a message that it has finished itself, also if the broker drops messages meanwhile', () => {
  const { log, receive, states } = open({ offset: 0, metadata: '' })
  receive(0, 'trace-0')
  finish(log, 1)
  log.skipTo(TOPIC, 5)
  receive(5, 'trace-0', 0)
  expect(states()).toHaveLength(1)
  expect(log.commits().get(TOPIC)).toEqual({ offset: 6, metadata: '' })
})

it('moves a held message to where it was appended again, so that the commit advances', () => {
  const { log, receive, states } = open({ offset: 0, metadata: '' })
  receive(0, 'trace-0')
  receive(1, 'trace-1')
  finish(log, 2)
  receive(2, 'trace-0', 0)
  expect(states()).toHaveLength(2)
  expect(log.held).toBe(1)
  expect(log.commits().get(TOPIC)?.offset).toBe(2)
})

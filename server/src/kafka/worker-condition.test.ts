import { expect, it } from 'vitest'

import { WorkerCondition } from './worker-condition.ts'
import type { WatchedPartition, WorkerConditionParts } from './worker-condition.ts'

const REFUSAL = 'The brokers do not let this user read the topic spans: give it READ on that topic'

function partition(number: number, idleMs: number, change: Partial<WatchedPartition> = {}): WatchedPartition {
  return { number, lag: idleMs > 0 ? 7 : 0, idleMs, isSilent: false, buffer: { isFull: false }, ...change }
}

function conditionOf(partitions: readonly WatchedPartition[], change: Partial<WorkerConditionParts> = {}) {
  return new WorkerCondition({
    partitions: new Map(partitions.map((each) => [each.number, each])),
    member: { isJoined: true },
    ends: { outgrown: undefined },
    refusals: { reason: undefined },
    commits: { ageMs: () => 0, isUnanswered: false },
    waiting: () => [],
    deadLetters: { unavailable: undefined },
    times: { unavailable: undefined },
    orphanMs: 300_000,
    isPaused: () => false,
    isHeldUp: () => false,
    ...change,
  })
}

it('is stuck when nothing was read from one partition for half a minute, regardless of the others', () => {
  expect(conditionOf([partition(0, 0), partition(1, 29_999)])).toMatchObject({ stuck: undefined, idle: undefined })
  const stuck = 'Nothing was read from partition 1 for 30 s although 7 messages wait.'
  expect(conditionOf([partition(0, 0), partition(1, 30_000)])).toMatchObject({ stuck, idle: stuck })
})

it('lets a full buffer wait for as long as spans wait for their parent', () => {
  const full = { buffer: { isFull: true } }
  expect(conditionOf([partition(0, 329_000, full)]).stuck).toBeUndefined()
  expect(conditionOf([partition(0, 331_000, full)]).stuck).toContain('partition 0 for 331 s')
})

it.each([
  ['scores cannot be delivered', { isHeldUp: () => true }],
  ['the coordinator does not answer', { commits: { ageMs: () => 60_000, isUnanswered: true } }],
  ['the group rebalances', { isPaused: () => true }],
  ['it is no member of the group', { member: { isJoined: false } }],
] as const)('is not stuck when %s', (_, change) => {
  expect(conditionOf([partition(0, 60_000)], change)).toMatchObject({ stuck: undefined, idle: undefined })
})

it('is idle and not ready, but not stuck, when the brokers refuse something', () => {
  const condition = conditionOf([partition(0, 60_000)], { refusals: { reason: REFUSAL } })
  expect(condition.stuck).toBeUndefined()
  expect(condition.idle).toBe(`Nothing was read from partition 0 for 60 s although 7 messages wait. ${REFUSAL}.`)
  expect(condition.unavailable).toBe(`${REFUSAL}.`)
})

it('is stuck when a topic has other partitions than at the start, because a restart helps', () => {
  const outgrown = 'spans has 4 partitions, and had 2 when this process started'
  const refusals = { reason: REFUSAL }
  expect(conditionOf([partition(0, 0)], { ends: { outgrown }, refusals }).stuck).toBe(outgrown)
})

it('is ready when it has partitions, commits, and leaders that answer', () => {
  expect(conditionOf([partition(0, 0)]).unavailable).toBeUndefined()
  expect(conditionOf([]).unavailable).toBe('No partition is assigned to this worker.')
  const late = partition(1, 0)
  const commits = { ageMs: (each: object) => (each === late ? 12_000 : 0), isUnanswered: false }
  expect(conditionOf([partition(0, 0), late], { commits })).toMatchObject({
    stuck: undefined,
    unavailable: 'Nothing could be committed for partition 1 for 12 s: its runs wait for the brokers.',
  })
  expect(conditionOf([partition(0, 0)], { waiting: () => [1, 2] })).toMatchObject({
    stuck: undefined,
    unavailable:
      'Partition 1, 2 cannot be taken over: no broker that leads it answers, and what was committed is there.',
  })
  const silent = [partition(0, 0), partition(1, 0, { isSilent: true }), partition(2, 0, { isSilent: true })]
  expect(conditionOf(silent)).toMatchObject({
    stuck: undefined,
    unavailable: 'Partition 1, 2 cannot be read: no broker that leads it answers.',
  })
  const unmoved = 'Messages that cannot be read could not be moved to dead for 12 s. They stay on Kafka.'
  expect(conditionOf([partition(0, 0)], { deadLetters: { unavailable: unmoved } })).toMatchObject({
    stuck: undefined,
    unavailable: unmoved,
  })
  const sendersTimes = 'Messages of the topic spans have the times of their senders.'
  expect(conditionOf([partition(0, 0)], { times: { unavailable: sendersTimes } })).toMatchObject({
    stuck: undefined,
    unavailable: sendersTimes,
  })
})

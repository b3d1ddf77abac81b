import { ResponseError } from '@platformatic/kafka'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { encodeAssignment } from './consumer-protocol.ts'
import { GroupMember } from './group-member.ts'
import type { GroupMemberParts } from './group-member.ts'
import { Refusals } from './refusals.ts'
import { COMMIT, HEARTBEAT, JOIN, SYNC } from './requests.ts'

const NOT_COORDINATOR = 16
const ILLEGAL_GENERATION = 22
const UNKNOWN_MEMBER_ID = 25
const REBALANCE_IN_PROGRESS = 27

const [joinKey, syncKey, heartbeatKey, commitKey] = [JOIN, SYNC, HEARTBEAT, COMMIT].map((versions) => versions[0]?.key)

/** What the coordinator answers to one request. */
type Answer = (given: readonly unknown[]) => unknown

const inGeneration =
  (generationId: number): Answer =>
  () => ({ generationId, memberId: 'me', leader: 'another', members: [] })
const assigned =
  (partitions: readonly number[]): Answer =>
  () => ({ assignment: encodeAssignment(['spans', 'logs'], partitions) })
const refused =
  (code: number): Answer =>
  () => {
    throw new ResponseError(heartbeatKey ?? 0, 4, { '/': [code, null] }, {})
  }
const rebalances = refused(REBALANCE_IN_PROGRESS)

/** A member whose coordinator gives these answers, in order, for requests of each key. Others remain unanswered. */
function setUp(answers: ReadonlyMap<number | undefined, Answer[]>) {
  const assignments: (readonly number[])[] = []
  const committedIn: unknown[] = []
  const rebalancesSeen = { count: 0 }
  const sent: { readonly node: number; readonly key: number | undefined; readonly given: readonly unknown[] }[] = []
  let coordinator = 0
  const send = (node: number, versions: readonly { readonly key: number }[], ...given: readonly unknown[]) => {
    const key = versions[0]?.key
    sent.push({ node, key, given })
    if (key === commitKey) committedIn.push(given[1])
    const answer = answers.get(key)?.shift()
    if (answer === undefined) return new Promise(() => undefined)
    return Promise.resolve().then(() => answer(given))
  }
  const member = new GroupMember({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it answers as the test wants
    client: { findCoordinator: () => Promise.resolve(++coordinator), send } as unknown as GroupMemberParts['client'],
    groupId: 'group',
    topics: ['spans', 'logs'],
    partitionCount: 2,
    sessionTimeoutMs: 1000,
    configHash: '',
    onRebalance: () => {
      rebalancesSeen.count += 1
      return Promise.resolve()
    },
    onAssigned: (partitions) => {
      assignments.push(partitions)
      return Promise.resolve()
    },
    refusals: new Refusals(() => 0),
    report: () => undefined,
  })
  return { member, assignments, committedIn, rebalancesSeen, sent }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('keeps its partitions from one generation to the next, and lets go of them if it has missed one', async () => {
  const { member, assignments, rebalancesSeen } = setUp(
    new Map([
      // Generation 4 goes on without this member, because a third one joins before its partitions have arrived.
      [joinKey, [inGeneration(2), inGeneration(3), inGeneration(4), inGeneration(5)]],
      [syncKey, [assigned([0, 1]), assigned([0, 1]), rebalances, assigned([0, 1])]],
      [heartbeatKey, [rebalances, rebalances]],
    ]),
  )
  member.start()
  await vi.advanceTimersByTimeAsync(1000)
  expect(assignments).toEqual([[0, 1], [0, 1], [], [0, 1]])
  expect(member.generation).toBe(5)
  // It settles down once for each time that it has worked.
  expect(rebalancesSeen.count).toBe(2)
})

it('commits partitions in the generation in which it has them, also while the next one is shared out', async () => {
  const { member, assignments, committedIn } = setUp(
    new Map([
      [joinKey, [inGeneration(2), inGeneration(3)]],
      // The leader of generation 3 has not yet shared out the partitions.
      [syncKey, [assigned([0, 1])]],
      [heartbeatKey, [rebalances]],
    ]),
  )
  member.start()
  await vi.advanceTimersByTimeAsync(1000)
  expect(assignments).toEqual([[0, 1]])
  void member.commit(new Map(), member.generation)
  await vi.advanceTimersByTimeAsync(0)
  expect(committedIn).toEqual([2])
})

it('looks the coordinator up again when it has moved, and keeps its partitions', async () => {
  const { member, assignments, sent } = setUp(
    new Map([
      [joinKey, [inGeneration(2)]],
      [syncKey, [assigned([0, 1])]],
      [heartbeatKey, [refused(NOT_COORDINATOR), () => ({}), () => ({})]],
    ]),
  )
  member.start()
  await vi.advanceTimersByTimeAsync(2000)
  const heartbeats = sent.filter(({ key }) => key === heartbeatKey)
  expect(heartbeats.slice(0, 3).map(({ node }) => node)).toEqual([1, 2, 2])
  expect(assignments).toEqual([[0, 1]])
  expect(member.isJoined).toBe(true)
})

it.each([
  { name: 'the group has removed it, and joins as a new member', code: UNKNOWN_MEMBER_ID, joinsAs: '' },
  { name: 'the group went on without it, and joins as the same member', code: ILLEGAL_GENERATION, joinsAs: 'me' },
])('lets go of its partitions when $name', async ({ code, joinsAs }) => {
  const { member, assignments, sent } = setUp(
    new Map([
      [joinKey, [inGeneration(2), inGeneration(4)]],
      [syncKey, [assigned([0, 1]), assigned([1])]],
      [heartbeatKey, [refused(code)]],
    ]),
  )
  member.start()
  await vi.advanceTimersByTimeAsync(1000)
  expect(assignments).toEqual([[0, 1], [], [1]])
  expect(sent.filter(({ key }) => key === joinKey).map(({ given }) => given[3])).toEqual(['', joinsAs])
})

import { ResponseError, UserError } from '@platformatic/kafka'
import { expect, it } from 'vitest'

import { Refusals } from './refusals.ts'

const FETCH = 1
const PRODUCE = 0
const HEARTBEAT = 12
const TOPIC_AUTHORIZATION_FAILED = 29
const GROUP_AUTHORIZATION_FAILED = 30
const JOIN_GROUP = 11
const NOT_LEADER_OR_FOLLOWER = 6

const read = {
  right: 'READ',
  topics: [
    { name: 'a.spans', id: 'id-of-spans' },
    { name: 'a.logs', id: 'id-of-logs' },
  ],
} as const
const write = { right: 'WRITE', topics: [{ name: 'a.dead' }] } as const

const responseError = (api: number, errors: Record<string, [number, null]>, response: unknown) =>
  new ResponseError(api, 1, errors, response)

it('names the topic that may not be read, by its place in the answer', () => {
  const refusals = new Refusals(() => 0)
  const answer = { responses: [{ topicId: 'id-of-spans' }, { topicId: 'id-of-logs' }] }
  const error = responseError(FETCH, { '/responses/1/partitions/0': [TOPIC_AUTHORIZATION_FAILED, null] }, answer)
  const reason = 'The brokers do not let this user read the topic a.logs: give it READ on that topic'
  expect(refusals.failed(read, error)).toBe(reason)
  expect(refusals.reason).toBe(reason)
  refusals.succeeded({ right: 'READ', topics: [{ name: 'a.spans' }] })
  expect(refusals.reason).toBe(reason)
  refusals.succeeded(read)
  expect(refusals.reason).toBeUndefined()
})

it('distinguishes missing write permissions, missing topics and the group', () => {
  const refusals = new Refusals(() => 0)
  const produced = { responses: [{ name: 'a.dead' }] }
  const path = '/responses/0/partition_responses/0'
  refusals.failed(write, responseError(PRODUCE, { [path]: [TOPIC_AUTHORIZATION_FAILED, null] }, produced))
  refusals.failed(read, new UserError('Unknown topic a.spans.'))
  refusals.groupFailed('a', responseError(HEARTBEAT, { '': [GROUP_AUTHORIZATION_FAILED, null] }, {}))
  expect(refusals.reason).toContain('write to the topic a.dead: give it WRITE')
  refusals.succeeded(write)
  expect(refusals.reason).toContain('There is no topic a.spans: create it again')
  refusals.succeeded(read)
  expect(refusals.reason).toContain('be a member of the group a: give it READ')
  refusals.groupSucceeded('a')
  expect(refusals.reason).toBeUndefined()
})

it.each([
  [
    'other programs use',
    23,
    'The group a has members that are no workers of spanscore: give the workers another --group, or stop these members',
  ],
  ['allows no such session timeout', 26, 'The brokers do not allow this --session-timeout: choose one between'],
  ['has too many members', 81, 'The brokers allow no more members of the group a: raise their group.max.size'],
])('reports a group that %s', (_, code, reason) => {
  const refusals = new Refusals(() => 0)
  refusals.groupFailed('a', responseError(JOIN_GROUP, { '': [code, null] }, {}))
  expect(refusals.reason).toContain(reason)
})

it('treats no other error as a refusal', () => {
  const refusals = new Refusals(() => 0)
  const answer = { responses: [{ topicId: 'id-of-spans' }] }
  const moved = responseError(FETCH, { '/responses/0/partitions/0': [NOT_LEADER_OR_FOLLOWER, null] }, answer)
  expect(refusals.failed(read, moved)).toMatch(/^Received response with error/)
  expect(refusals.failed(read, new Error('Connection closed.'))).toBe('Connection closed')
  expect(refusals.groupFailed('a', new Error('Connection closed.'))).toBe('Connection closed')
  expect(refusals.reason).toBeUndefined()
})

it('forgets operations that are not tried any more', () => {
  let nowMs = 0
  const refusals = new Refusals(() => nowMs)
  refusals.failed(read, new UserError('Unknown topic a.spans.'))
  nowMs = 20_000
  refusals.failed(write, new UserError('Unknown topic a.dead.'))
  nowMs = 31_000
  expect(refusals.reason).toContain('a.dead')
  nowMs = 51_000
  expect(refusals.reason).toBeUndefined()
})

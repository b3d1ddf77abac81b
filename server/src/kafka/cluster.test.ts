import { ResponseError } from '@platformatic/kafka'
import { expect, it } from 'vitest'

import { clusterIn } from './cluster.ts'

const METADATA = 3
const [LEADER_NOT_AVAILABLE, TOPIC_AUTHORIZATION_FAILED] = [5, 29]

const response = {
  brokers: [1, 3].map((nodeId) => ({ nodeId, host: '127.0.0.1', port: 9092, rack: null })),
  topics: [
    {
      name: 'spans',
      topicId: 'an-id',
      partitions: [
        { partitionIndex: 1, leaderId: -1 },
        { partitionIndex: 0, leaderId: 3 },
      ],
    },
  ],
}

function errorWith(...codes: readonly number[]): Error {
  const errors: Record<string, [number, null]> = {}
  for (const [index, code] of codes.entries()) errors[`/topics/0/partitions/${index}`] = [code, null]
  const refused = new ResponseError(METADATA, 12, errors, response)
  return new AggregateError([refused], 'metadata failed 1 times.')
}

it('takes the leaders of the other partitions from a response that the library refuses', () => {
  const known = clusterIn(errorWith(LEADER_NOT_AVAILABLE), ['spans'])
  expect([...(known?.brokers.keys() ?? [])]).toEqual([1, 3])
  expect(known?.topics.get('spans')).toEqual({
    id: 'an-id',
    partitions: [{ leader: 3 }, { leader: -1 }],
    partitionsCount: 2,
  })
})

it('takes nothing from a response with another error, or without one of the topics', () => {
  expect(clusterIn(errorWith(LEADER_NOT_AVAILABLE, TOPIC_AUTHORIZATION_FAILED), ['spans'])).toBeUndefined()
  expect(clusterIn(errorWith(LEADER_NOT_AVAILABLE), ['spans', 'logs'])).toBeUndefined()
  expect(clusterIn(new Error('connect ECONNREFUSED'), ['spans'])).toBeUndefined()
})

import { expect, it } from 'vitest'

import { isAnswer } from './answered-errors.ts'

it('distinguishes a broker that refuses from a broker that does not answer', () => {
  const refusal = Object.assign(new Error('no commit'), { apiId: 'TOPIC_AUTHORIZATION_FAILED' })
  expect(isAnswer(new Error('no commit', { cause: refusal }))).toBe(true)
  expect(isAnswer(new AggregateError([new Error('connect ECONNREFUSED'), refusal]))).toBe(true)
  expect(isAnswer(new AggregateError([new Error('connect ECONNREFUSED')]))).toBe(false)
})

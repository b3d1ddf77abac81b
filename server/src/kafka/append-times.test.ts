import { expect, it } from 'vitest'

import { AppendTimes } from './append-times.ts'

it('names a topic with the times of senders while its latest messages have them, and reports it once', () => {
  const reported: string[] = []
  const times = new AppendTimes((message) => reported.push(message))
  times.seen('spans', true)
  expect(times.unavailable).toBeUndefined()
  times.seen('logs', false)
  times.seen('spans', true)
  expect(times.unavailable).toContain('topic logs')
  times.seen('logs', true)
  expect(times.unavailable).toBeUndefined()
  times.seen('logs', false)
  expect(times.unavailable).toContain('message.timestamp.type=LogAppendTime')
  expect(reported).toEqual([times.unavailable])
})

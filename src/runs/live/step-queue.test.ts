import { expect, test } from 'vitest'

import { StepQueue } from './step-queue.ts'

test('Steps are taken in order, and those added first before all others', () => {
  const queue = new StepQueue()
  const taken: string[] = []
  const step = (name: string) => () => void taken.push(name)
  const takeOne = () => queue.take()?.()
  queue.add(step('c'))
  queue.add(step('d'))
  queue.addFirst(step('b'))
  queue.addFirst(step('a'))
  expect(queue.size).toBe(4)
  for (let count = 0; count < 3; count++) takeOne()
  queue.add(step('e'))
  queue.addFirst(step('before d'))
  for (let count = 0; count < 3; count++) takeOne()
  expect(taken).toEqual(['a', 'b', 'c', 'before d', 'd', 'e'])
  expect([queue.size, queue.take()]).toEqual([0, undefined])
})

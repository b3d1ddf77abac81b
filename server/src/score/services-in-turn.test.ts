import { expect, it } from 'vitest'

import { ServicesInTurn } from './services-in-turn.ts'

it('takes of each service in turn, the oldest first', () => {
  const queue = new ServicesInTurn<string>()
  for (const entry of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) queue.add(entry[0], entry)
  expect(queue.take()).toBe('a1')
  queue.add('c', 'c1')
  const taken: string[] = []
  for (let entry = queue.take(); entry !== undefined; entry = queue.take()) taken.push(entry)
  expect(taken).toEqual(['b1', 'a2', 'c1', 'b2', 'a3', 'a4'])
})

import { expect, it } from 'vitest'

import { BoundedNames } from './bounded-names.ts'

it('leaves places for names that come again', () => {
  const names = new BoundedNames(10, 5)
  const kept = Array.from({ length: 2000 }, (_, index) => {
    const run = {}
    const [, , , last = ''] = Array.from({ length: 4 }, () => names.of(`made-up-${index}`, run))
    return last
  }).filter((name) => name !== 'other')
  expect(kept).toHaveLength(5)
  expect(Array.from({ length: 5 }, () => names.of('weather', {}))).toEqual([
    'other',
    'other',
    'weather',
    'weather',
    'weather',
  ])
  for (let index = 0; index < 100; index++) for (let use = 0; use < 5; use++) names.of(`often-${index}`, {})
  expect(names.of('often-99')).toBe('other')
  expect([names.of('made-up-4'), names.of('weather'), names.of('often-3')]).toEqual(['made-up-4', 'weather', 'often-3'])
})

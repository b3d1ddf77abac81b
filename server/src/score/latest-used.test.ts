import { expect, it } from 'vitest'

import { LatestUsed } from './latest-used.ts'

it('keeps what was used last, and what is not idle', () => {
  const busy = new Set<string>()
  const dropped: string[] = []
  const values = new LatestUsed<string>({
    limit: 2,
    isIdle: (value) => !busy.has(value),
    onDropped: (value) => dropped.push(value),
  })
  const use = (key: string) => values.get(key, () => key)
  for (const key of ['a', 'b', 'a', 'c']) expect(use(key)).toBe(key)
  expect(dropped).toEqual(['b'])
  busy.add('a')
  busy.add('c')
  use('d')
  expect([...values.values()]).toEqual(['a', 'c', 'd'])
  busy.clear()
  use('e')
  expect(dropped).toEqual(['b', 'a', 'c'])
  expect([...values.values()]).toEqual(['d', 'e'])
})

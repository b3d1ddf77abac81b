import { expect, it } from 'vitest'

import { LatestUsed } from './latest-used.ts'

it('keeps what was used last', () => {
  const dropped: string[] = []
  const values = new LatestUsed<string>(2, (value) => dropped.push(value))
  for (const key of ['a', 'b', 'a', 'c']) expect(values.get(key, () => key)).toBe(key)
  expect(dropped).toEqual(['b'])
  expect([...values.values()]).toEqual(['a', 'c'])
  values.get('a', () => 'another')
  values.get('d', () => 'd')
  expect(dropped).toEqual(['b', 'c'])
  expect([...values.values()]).toEqual(['a', 'd'])
})

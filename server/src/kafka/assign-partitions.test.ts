import { expect, it } from 'vitest'

import { assignPartitions } from './assign-partitions.ts'

function expectFair(
  members: readonly { id: string; owned: readonly number[] }[],
  count: number,
): ReadonlyMap<string, readonly number[]> {
  const assigned = assignPartitions(members, count)
  const all = [...assigned.values()].flat().toSorted((left, right) => left - right)
  expect(all).toEqual(Array.from({ length: count }, (_, partition) => partition))
  const sizes = [...assigned.values()].map(({ length }) => length)
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
  return assigned
}

it('distributes partitions evenly, regardless of what members had before', () => {
  for (let count = 1; count <= 13; count++) {
    for (let size = 1; size <= 7; size++) {
      let owned = new Map<string, readonly number[]>()
      for (const ids of [size, size + 1, Math.max(1, size - 2), size]) {
        const members = Array.from({ length: ids }, (_, index) => ({
          id: `m${index}`,
          owned: owned.get(`m${index}`) ?? [],
        }))
        owned = new Map(expectFair(members, count))
        expect(owned.size).toBe(ids)
      }
    }
  }
})

it('leaves partitions where they are', () => {
  const before = expectFair(
    [
      { id: 'a', owned: [] },
      { id: 'b', owned: [] },
      { id: 'c', owned: [] },
    ],
    9,
  )
  // When a member leaves, its partitions move and no others.
  const after = expectFair(
    ['a', 'c'].map((id) => ({ id, owned: before.get(id) ?? [] })),
    9,
  )
  for (const id of ['a', 'c']) for (const partition of before.get(id) ?? []) expect(after.get(id)).toContain(partition)
  // When a member joins, no member gets a partition that another one keeps.
  const joined = expectFair(
    ['a', 'b', 'c'].map((id) => ({ id, owned: after.get(id) ?? [] })),
    9,
  )
  for (const id of ['a', 'c']) for (const partition of joined.get(id) ?? []) expect(after.get(id)).toContain(partition)
})

it('assigns a partition anew if two members claim it', () => {
  const assigned = expectFair(
    [
      { id: 'a', owned: [0, 1, 2] },
      { id: 'b', owned: [0, 1, 2, 99] },
    ],
    4,
  )
  expect([...assigned.values()].map(({ length }) => length)).toEqual([2, 2])
})

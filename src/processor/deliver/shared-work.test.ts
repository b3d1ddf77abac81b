import { expect, it } from 'vitest'

import { SharedWork } from './shared-work.ts'

it('who asks while work is under way shares the next time, which begins when this one ends', async () => {
  const ends: (() => void)[] = []
  const shared = new SharedWork(
    () =>
      new Promise((resolve) => {
        ends.push(resolve)
      }),
  )
  const done: string[] = []
  const ask = (name: string): Promise<unknown> => shared.done().then(() => done.push(name))
  const all = ['first', 'second', 'third'].map(ask)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await all[0]
  expect(done).toEqual(['first'])
  await Promise.resolve()
  expect(ends).toHaveLength(2)
  ends[1]?.()
  await Promise.all(all)
  expect(done).toEqual(['first', 'second', 'third'])
  void ask('fourth')
  expect(ends).toHaveLength(3)
})

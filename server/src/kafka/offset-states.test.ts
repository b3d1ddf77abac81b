import { expect, it } from 'vitest'

import { createRandom } from '../../../test/fuzz/random.ts'
import { OffsetStates, readCommit } from './offset-states.ts'
import type { RecordState } from './offset-states.ts'

const ALL: readonly RecordState[] = ['open', 'emitted', 'finished']

it('restores the state of every offset from a commit', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = createRandom(seed)
    const next = () => random.next()
    const first = Math.floor(next() * 1e12)
    const states = new OffsetStates({ offset: first, metadata: '' })
    const expected = new Map<number, RecordState>()
    const count = Math.floor(next() * 300)
    for (let index = 0; index < count; index++) {
      // Some offsets have no record, because it was compacted or because they mark transactions.
      if (next() < 0.1) continue
      const state = ALL[Math.floor(next() * 3)] ?? 'open'
      states.add(first + index, state)
      expected.set(first + index, state)
    }
    for (const offset of expected.keys()) {
      if (next() > 0.3) continue
      const state = ALL[Math.floor(next() * 3)] ?? 'open'
      states.set(offset, state)
      expected.set(offset, state)
    }
    const commit = states.commit()
    const { stateOf, end } = readCommit(commit)
    const unfinished = [...expected].filter(([, state]) => state !== 'finished').map(([offset]) => offset)
    expect(commit.offset).toBe(unfinished.length === 0 ? states.next : Math.min(...unfinished))
    expect(end).toBe(states.next)
    for (const [offset, state] of expected) expect(stateOf(offset)).toBe(state)
    expect(stateOf(states.next)).toBe('open')
    expect(stateOf(commit.offset - 1)).toBe('finished')
  }
})

it('treats unreadable metadata as missing', () => {
  for (const metadata of ['3abc', 'from another consumer', '1***', '1']) {
    const { stateOf } = readCommit({ offset: 10, metadata })
    expect(stateOf(9)).toBe('finished')
    expect(stateOf(10)).toBe('open')
    expect(stateOf(1e6)).toBe('open')
  }
})

it('needs little space for long ranges of equal states, and forgets what the broker has dropped', () => {
  const states = new OffsetStates({ offset: 0, metadata: '' })
  states.add(0, 'open')
  for (let offset = 1; offset < 100_000; offset++) states.add(offset, 'finished')
  expect(states.commit().metadata.length).toBeLessThan(40)
  states.skipTo(100_500)
  expect(states.commit()).toEqual({ offset: 100_500, metadata: '' })
  expect(states.size).toBe(0)
})

it('commits the states of the last owner for records that were not read again yet', () => {
  const first = new OffsetStates({ offset: 0, metadata: '' })
  for (let offset = 0; offset < 100; offset++) first.add(offset, offset % 3 === 0 ? 'open' : 'finished')
  const second = new OffsetStates(first.commit())
  second.add(0, 'finished')
  second.add(1, 'finished')
  const { stateOf, end } = readCommit(second.commit())
  expect(end).toBe(100)
  for (let offset = 2; offset < 100; offset++) expect(stateOf(offset)).toBe(offset % 3 === 0 ? 'open' : 'finished')
})

it('commits nothing new while nothing has changed, however many long commits are on the partition', () => {
  const states = new OffsetStates({ offset: 0, metadata: '' })
  states.add(0, 'open')
  const commit = states.commit()
  states.advance(10)
  expect(states.next).toBe(10)
  expect(states.commit()).toBe(commit)
  states.set(0, 'emitted')
  expect(readCommit(states.commit())).toMatchObject({ end: 10 })
  states.set(0, 'finished')
  expect(states.commit()).toEqual({ offset: 10, metadata: '' })
  // With nothing unfinished, the lag becomes 0.
  states.advance(12)
  expect(states.commit()).toEqual({ offset: 12, metadata: '' })
})

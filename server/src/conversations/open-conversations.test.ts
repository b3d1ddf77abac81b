import { describe, expect, it } from 'vitest'

import { OpenConversations } from './open-conversations.ts'

const MINUTE = 60_000
const IDLE = 15 * MINUTE

describe('open conversations', () => {
  it('are over when no run has come for the idle time, and go on with a further run', () => {
    const open = new OpenConversations(IDLE)
    for (const minute of [0, 10, 20]) {
      open.add('a', 'shop', minute * MINUTE, false)
      expect(open.takeOver(minute * MINUTE, 9)).toEqual([])
    }
    expect(open.takeOver(34 * MINUTE, 9)).toEqual([])
    expect(open.takeOver(35 * MINUTE, 9)).toMatchObject([{ key: 'a', service: 'shop', endedBy: 'idle' }])
    expect(open.takeOver(36 * MINUTE, 9)).toEqual([])
    open.scored('a')
    open.add('a', 'shop', 40 * MINUTE, false)
    expect(open.open).toBe(1)
    expect(open.takeOver(55 * MINUTE, 9)).toMatchObject([{ key: 'a', service: 'shop', endedBy: 'idle' }])
  })

  it('are over at once if a run says so', () => {
    const open = new OpenConversations(IDLE)
    open.add('a', 'shop', 0, true)
    expect(open.takeOver(0, 9)).toMatchObject([{ key: 'a', service: 'shop', endedBy: 'marked' }])
  })

  it('are over at once by a mark only the first time, then once for each quiet time', () => {
    const open = new OpenConversations(IDLE)
    open.add('a', 'shop', 0, true)
    expect(open.takeOver(0, 9)).toHaveLength(1)
    for (const minute of [1, 2, 3]) {
      open.add('a', 'shop', minute * MINUTE, true)
      expect(open.takeOver(minute * MINUTE, 9)).toEqual([])
    }
    expect(open.takeOver(18 * MINUTE, 9)).toMatchObject([{ key: 'a', service: 'shop', endedBy: 'idle' }])
  })

  it('are taken of all services in turn, so that none waits for the many of another', () => {
    const open = new OpenConversations(IDLE)
    for (let index = 0; index < 1000; index++) open.add(`${index}`, 'flood', 0, false)
    open.add('a', 'shop', 0, false)
    open.add('b', 'shop', 0, false)
    expect(open.takeOver(IDLE, 4).map(({ key }) => key)).toEqual(['0', 'a', '1', 'b'])
    expect(open.waiting).toBe(998)
    // A further run opens a conversation again that waits for its scores.
    open.add('2', 'flood', IDLE, false)
    expect(open.takeOver(IDLE, 2).map(({ key }) => key)).toEqual(['3', '4'])
  })

  it('wait if their service is not ready, and keep none of another waiting', () => {
    const open = new OpenConversations(IDLE)
    for (const key of ['a', 'b']) open.add(key, 'flood', 0, false)
    open.add('c', 'shop', 0, false)
    expect(open.takeOver(IDLE, 9, ({ service }) => service === 'shop').map(({ key }) => key)).toEqual(['c'])
    expect(open.waiting).toBe(2)
    expect(open.takeOver(2 * IDLE, 9).map(({ key, endedMs }) => [key, endedMs])).toEqual([
      ['a', IDLE],
      ['b', IDLE],
    ])
  })

  it('are closed before their time for the service that has the most', () => {
    const open = new OpenConversations(IDLE, 4)
    for (const key of ['1', '2', '3']) open.add(key, 'flood', 0, false)
    open.add('a', 'shop', 0, false)
    open.add('b', 'shop', 0, false)
    expect(open.takeOver(0, 9)).toMatchObject([{ key: '1', service: 'flood', endedBy: 'limit' }])
  })

  it('are forgotten four idle times after their end, once their scores were delivered', () => {
    const open = new OpenConversations(IDLE)
    open.add('a', 'shop', 0, false)
    open.takeOver(IDLE, 9)
    expect(open.takeForgotten(9 * IDLE)).toEqual([])
    open.scored('a')
    expect(open.has('a', 'shop')).toBe(true)
    expect(open.takeForgotten(5 * IDLE - 1)).toEqual([])
    expect(open.takeForgotten(5 * IDLE)).toEqual(['a'])
    expect(open.has('a', 'shop')).toBe(false)
  })

  it('are taken a few at a time, and the oldest is closed if there are too many', () => {
    const open = new OpenConversations(IDLE, 3)
    for (const key of ['a', 'b', 'a', 'c', 'd']) open.add(key, 'shop', 0, false)
    expect(open.takeOver(0, 9)).toMatchObject([{ key: 'b', service: 'shop', endedBy: 'limit' }])
    expect(open.takeOver(IDLE, 2).map(({ key }) => key)).toEqual(['a', 'c'])
    expect(open.takeOver(IDLE, 2).map(({ key }) => key)).toEqual(['d'])
  })

  it('hold a bounded number of a million conversations', () => {
    const open = new OpenConversations(IDLE, 1000)
    let closed = 0
    for (let index = 0; index < 1_000_000; index++) {
      open.add(`${index}`, 'shop', index, false)
      if (index % 1000 < 999) continue
      for (const { key } of open.takeOver(index, 1000)) {
        closed += 1
        open.scored(key)
      }
      open.takeForgotten(index)
    }
    expect(closed).toBe(999_000)
    expect(open.open).toBe(1000)
    expect(open.has('998000', 'shop')).toBe(true)
    expect(open.has('997000', 'shop')).toBe(false)
  })

  it('begin their idle time anew when the service starts', () => {
    const open = new OpenConversations(IDLE)
    open.restore('a', 'shop', 100 * MINUTE, false)
    open.restore('b', 'shop', 100 * MINUTE, true)
    expect(open.takeOver(114 * MINUTE, 9)).toEqual([])
    expect(open.takeOver(115 * MINUTE, 9)).toMatchObject([{ key: 'a', service: 'shop', endedBy: 'idle' }])
    expect(open.takeForgotten(175 * MINUTE)).toEqual(['b'])
  })
})

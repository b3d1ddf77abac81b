import { describe, expect, it } from 'vitest'

import { HeldContents } from './held-contents.ts'
import type { HeldBytes } from './span-content.ts'

const body = (bytes: number) => ({ bytes: new Uint8Array(bytes), holders: 0 })
const held = (): HeldBytes => ({ body: undefined, start: 0, end: 1 })

describe('bodies of requests in memory', () => {
  it('are counted whole, once, for as long as one span or log record needs them', () => {
    const contents = new HeldContents<object>(1000)
    const [one, two] = [{}, {}]
    const request = body(400)
    const [first, second, third] = [held(), held(), held()]
    contents.add(one, first, request)
    contents.add(one, second, request)
    contents.add(two, third, request)
    expect(contents.bytes).toBe(400)
    contents.drop(one)
    expect(contents.bytes).toBe(400)
    expect([first.body, second.body, third.body]).toEqual([undefined, undefined, request])
    contents.drop(two)
    expect(contents.bytes).toBe(0)
    expect(request.holders).toBe(0)
  })

  it('are let go of from the oldest owner on, above the limit', () => {
    const contents = new HeldContents<object>(1000)
    const all = Array.from({ length: 4 }, held)
    for (const each of all) contents.add({}, each, body(300))
    expect(contents.bytes).toBe(900)
    expect(all.map((each) => each.body === undefined)).toEqual([true, false, false, false])
  })

  it('are let go of with the first of two owners, and move with what is merged', () => {
    const contents = new HeldContents<object>(1000)
    const [trace, one, two] = [{}, {}, {}]
    const log = held()
    contents.add(trace, log, body(300))
    contents.adopt(one, log)
    contents.disown(trace)
    contents.move(one, two)
    contents.drop(one)
    expect(contents.bytes).toBe(300)
    contents.drop(two)
    expect([contents.bytes, log.body]).toEqual([0, undefined])
    contents.drop(trace)
    expect(contents.bytes).toBe(0)
  })
})

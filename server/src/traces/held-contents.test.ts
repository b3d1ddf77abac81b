import { describe, expect, it } from 'vitest'

import { HeldContents } from './held-contents.ts'
import type { BodyOwner, HeldBytes } from './held-contents.ts'

const body = (bytes: number) => ({ bytes: new Uint8Array(bytes), holders: 0 })
const held = (): HeldBytes => ({ body: undefined, start: 0, end: 1 })
const owner = (...all: readonly HeldBytes[]): BodyOwner => ({ bodies: 0, contents: () => all })

describe('bodies of requests in memory', () => {
  it('are counted whole, once, for as long as one span or log record needs them', () => {
    const contents = new HeldContents({ maxBytes: 1000, usualMs: 100 })
    const request = body(400)
    const [first, second, third] = [held(), held(), held()]
    const [one, two] = [owner(first, second), owner(third)]
    contents.add(one, first, request, 0)
    contents.add(one, second, request, 0)
    contents.add(two, third, request, 0)
    expect(contents.bytes).toBe(400)
    contents.drop(one)
    expect(contents.bytes).toBe(400)
    expect([first.body, second.body, third.body]).toEqual([undefined, undefined, request])
    contents.drop(two)
    expect(contents.bytes).toBe(0)
    expect(request.holders).toBe(0)
  })

  it('are freed once nothing needs them, unless their bytes are shared', () => {
    const contents = new HeldContents({ maxBytes: 1_000_000, usualMs: 100 })
    const shared = body(100_000)
    const own = { ...body(100_000), isOwn: true }
    const pooled = { bytes: Buffer.from('a short text in the pool'), holders: 0, isOwn: true }
    const requests = [shared, own, pooled]
    const [ofOne, ofTwo] = [requests.map(held), requests.map(held)]
    const [one, two] = [owner(...ofOne), owner(...ofTwo)]
    for (const [index, each] of ofOne.entries()) contents.add(one, each, requests[index] ?? shared, 0)
    for (const [index, each] of ofTwo.entries()) contents.add(two, each, requests[index] ?? shared, 0)
    contents.drop(one)
    expect(own.bytes.byteLength).toBe(100_000)
    contents.drop(two)
    expect([shared, own].map(({ bytes }) => bytes.byteLength)).toEqual([100_000, 0])
    expect(pooled.bytes.toString()).toBe('a short text in the pool')
  })

  it('are not held above the limit, because those before them are needed earlier', () => {
    const contents = new HeldContents({ maxBytes: 1000, usualMs: 100 })
    const all = Array.from({ length: 4 }, held)
    for (const each of all) contents.add(owner(each), each, body(300), 0)
    expect(contents.bytes).toBe(900)
    expect(all.map((each) => each.body === undefined)).toEqual([false, false, false, true])
  })

  it('make room at the limit if their owners wait for unusually long, the oldest first', () => {
    const contents = new HeldContents({ maxBytes: 1000, usualMs: 100 })
    const all = Array.from({ length: 5 }, held)
    const times = [0, 20, 90, 101, 102]
    for (const [index, each] of all.entries()) contents.add(owner(each), each, body(300), times[index] ?? 0)
    expect(contents.bytes).toBe(900)
    expect(all.map((each) => each.body === undefined)).toEqual([true, false, false, false, true])
  })

  it('are released one by one, too', () => {
    const contents = new HeldContents({ maxBytes: 1000, usualMs: 100 })
    const [first, second] = [held(), held()]
    const trace = owner(first, second)
    for (const each of [first, second]) contents.add(trace, each, body(300), 0)
    contents.release(trace, first)
    expect([contents.bytes, first.body, trace.bodies]).toEqual([300, undefined, 1])
    contents.drop(trace)
    expect([contents.bytes, trace.bodies]).toEqual([0, 0])
  })
})

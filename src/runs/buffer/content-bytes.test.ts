import { expect, it } from 'vitest'

import type { SourceLog } from '../../spans/source-span.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { takeLog, takeSpan } from './content-bytes.ts'

const spanWith = (attributes: Readonly<Record<string, unknown>>) =>
  ({ name: 'chat', status: {}, attributes, events: [] }) as unknown as SdkSpanLike
const logWith = (body: unknown) => ({ attributes: {}, scope: { name: '' }, body }) as unknown as SourceLog
const short = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))

it('counts the characters of texts, and eight bytes for all other values', () => {
  expect(takeSpan(spanWith({ text: 'x'.repeat(1000), number: 1 })).contentBytes).toBe(4 + 1000 + 8)
})

it('counts the texts of the name, the status and the events of a span', () => {
  const text = 'x'.repeat(1000)
  const events = [{ name: text, time: [0, 0], attributes: { 'exception.message': text } }]
  const span = { ...spanWith({}), name: text, status: { code: 2, message: text }, events } as unknown as SdkSpanLike
  expect(takeSpan(span).contentBytes).toBe(4000)
})

it('counts attributes beyond the usual number as what reading them takes', () => {
  expect(takeSpan(spanWith(short(200))).contentBytes).toBe(204)
  // Not within the end of a span (256 KiB), and from 33,000 on not at all (16 MiB).
  expect(takeSpan(spanWith(short(800))).contentBytes).toBeGreaterThan(256 * 1024)
  expect(takeSpan(spanWith(short(34_000))).contentBytes).toBeGreaterThan(16 * 1024 * 1024)
})

it('leaves out values that cannot be read, so that a run cannot stay open because of them', () => {
  const trap = Object.defineProperty({}, 'trap', {
    enumerable: true,
    get() {
      throw new Error('trap')
    },
  })
  expect(takeSpan(spanWith({ trap, text: 'x'.repeat(100) })).contentBytes).toBe(104)
  const list = Object.assign([], { length: 2 ** 32 - 1 })
  expect(takeSpan(spanWith({ content: [trap, list] })).attributes).toEqual({})
})

it('leaves spans as they are that have nothing but texts, numbers and lists of them', () => {
  const span = spanWith({ text: 'x', reasons: ['stop'], count: 1 })
  const { attributes, events } = takeSpan(span)
  expect(attributes).toBe(span.attributes)
  expect(events).toBe(span.events)
})

it('reads from copies what the application may still change', () => {
  const list = [{ role: 'user', content: 'Hi' }]
  const event = { name: 'exception', time: [0, 0], attributes: { list } }
  const span = { ...spanWith({ list, text: 'x' }), events: [event] } as unknown as SdkSpanLike
  const taken = takeSpan(span)
  list.length = 0
  expect(taken.attributes).toEqual({ list: [{ role: 'user', content: 'Hi' }], text: 'x' })
  expect(taken.events).toEqual([{ ...event, attributes: { list: [{ role: 'user', content: 'Hi' }] } }])
})

it('counts keys of unusual length', () => {
  expect(takeSpan(spanWith({ ['k'.repeat(1e6)]: 'v' })).contentBytes).toBeGreaterThan(1e6)
})

it('counts log records without an end, and those with more values than are read, as too large', () => {
  expect(takeLog(logWith([{ content: 'x'.repeat(1000) }, 1])).heldBytes).toBe(1000 + 8 + 512)
  for (const body of [
    Object.assign([], { length: 2 ** 32 - 1 }),
    { parts: Array.from({ length: 60_000 }, () => 'x') },
  ]) {
    expect(takeLog(logWith(body)).contentBytes).toBeGreaterThan(16 * 1024 * 1024)
  }
  expect(takeSpan(spanWith({ list: Object.assign([], { length: 2 ** 32 - 1 }) })).contentBytes).toBeGreaterThan(2 ** 24)
})

it('reads typed arrays as lists of numbers, and byte arrays together up to a mebibyte', () => {
  const values = {
    vector: new Float32Array([1, 2]),
    bytes: [new Uint8Array([1]), new Uint8Array(2 ** 20)],
  }
  const { attributes } = takeSpan(spanWith(values))
  expect(attributes).toEqual({ vector: [1, 2], bytes: ['AQ==', undefined] })
})

it('reads big integers as in files, and neither functions nor symbols', () => {
  const values = {
    count: 5n,
    ids: [2n ** 62n, 1n],
    long: 10n ** 100n,
    call: { id: 1n, toJSON: () => 1, key: Symbol('x') },
  }
  const { attributes } = takeSpan(spanWith({ ...values, text: 'x', function: () => 1 }))
  expect(attributes).toEqual({ count: 5, ids: ['4611686018427387904', 1], call: { id: 1 }, text: 'x' })
})

it.each<readonly [string, () => unknown]>([
  ['a typed array', () => new Float64Array(2e7)],
  ['a hundred byte arrays', () => Array.from({ length: 100 }, () => new Uint8Array(1e6))],
])('does not keep all of %s', (_, value) => {
  const given = value()
  const kept = JSON.stringify(takeSpan(spanWith({ given })).attributes)
  expect(kept.length).toBeLessThan(4_000_000)
})

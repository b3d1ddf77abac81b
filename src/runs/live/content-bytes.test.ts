import { expect, it } from 'vitest'

import type { SourceLog } from '../../spans/source-span.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { bytesOfLog, bytesOfSpan } from './content-bytes.ts'

const spanWith = (attributes: Readonly<Record<string, unknown>>) =>
  ({ name: 'chat', status: {}, attributes, events: [] }) as unknown as SdkSpanLike
const logWith = (body: unknown) => ({ attributes: {}, body }) as unknown as SourceLog
const short = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))

it('counts the characters of texts, and eight bytes for all other values', () => {
  expect(bytesOfSpan(spanWith({ text: 'x'.repeat(1000), number: 1 })).contentBytes).toBe(4 + 1000 + 8)
})

it('counts attributes beyond the usual number as what reading them takes', () => {
  expect(bytesOfSpan(spanWith(short(200))).contentBytes).toBe(204)
  // Not within the end of a span (256 KiB), and from 33,000 on not at all (16 MiB).
  expect(bytesOfSpan(spanWith(short(800))).contentBytes).toBeGreaterThan(256 * 1024)
  expect(bytesOfSpan(spanWith(short(34_000))).contentBytes).toBeGreaterThan(16 * 1024 * 1024)
})

it('never throws, so that a run cannot stay open because of a missing number', () => {
  const trap = Object.defineProperty({}, 'trap', {
    enumerable: true,
    get() {
      throw new Error('trap')
    },
  })
  expect(bytesOfSpan(spanWith({ trap, text: 'x'.repeat(100) })).contentBytes).toBe(104)
  expect(bytesOfSpan({} as SdkSpanLike).contentBytes).toBe(0)
})

it('counts log records without an end, and those with more values than are read, as too large', () => {
  expect(bytesOfLog(logWith([{ content: 'x'.repeat(1000) }, 1])).heldBytes).toBe(1000 + 8 + 512)
  for (const body of [
    Object.assign([], { length: 2 ** 32 - 1 }),
    { parts: Array.from({ length: 60_000 }, () => 'x') },
  ]) {
    expect(bytesOfLog(logWith(body)).contentBytes).toBeGreaterThan(16 * 1024 * 1024)
  }
  expect(bytesOfSpan(spanWith({ list: Object.assign([], { length: 2 ** 32 - 1 }) })).contentBytes).toBeGreaterThan(
    2 ** 24,
  )
})

import { expect, it } from 'vitest'

import { parseReply } from './parse-reply.ts'

const anyValue = (value: unknown) => ({ ok: true as const, value })
const read = (text: string) => parseReply(text, anyValue)

it.each([
  ['unclosed brackets', (length: number) => '{'.repeat(length)],
  ['unclosed strings', (length: number) => `{"a": "b${'\\"'.repeat(length / 2)}`],
  ['escaped line ends in strings', (length: number) => `x {${'"\\\n'.repeat(length / 3)}}`],
  ['commas', (length: number) => `x [${','.repeat(length)}]`],
  ['commas and blanks', (length: number) => `x [${', '.repeat(length / 2)}x]`],
  ['many small values', (length: number) => '[1,] '.repeat(length / 5)],
])('takes time in proportion to the length of %s', (_, textOf) => {
  const microseconds = (length: number): number => {
    const text = textOf(length)
    const runs = Array.from({ length: 5 }, () => {
      const before = process.cpuUsage()
      read(text)
      const { user, system } = process.cpuUsage(before)
      return user + system
    })
    return Math.min(...runs)
  }
  microseconds(30_000)
  // Eight times the text: 64 times the time would be quadratic. Short times count as half a millisecond.
  expect(microseconds(240_000) / Math.max(500, microseconds(30_000))).toBeLessThan(24)
})

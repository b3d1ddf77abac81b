import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { parseReply } from './parse-reply.ts'

const anyValue = (value: unknown) => ({ ok: true as const, value })
const read = (text: string) => parseReply(text, anyValue)

describe('parseReply', () => {
  it('returns the value of JSON that stands alone or among words', () => {
    fc.assert(
      fc.property(
        fc.object(),
        fc.string().filter((text) => !/[[\]{}"]/.test(text)),
        (value, words) => {
          const json = JSON.stringify(value)
          const parsed: unknown = JSON.parse(json, (key, part: unknown) => (key === '__proto__' ? undefined : part))
          expect(read(json)).toEqual({ ok: true, value: parsed })
          expect(read(`${words}x ${json} ${words}`)).toEqual({ ok: true, value: parsed })
        },
      ),
    )
  })

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

  it('removes trailing commas, but none inside a text', () => {
    expect(read('so: {"a": [1, 2, ], "b": ",]", "c": "\\",}" , }')).toEqual({
      ok: true,
      value: { a: [1, 2], b: ',]', c: '",}' },
    })
  })

  it('accepts a value that occurs twice, and rejects two different values', () => {
    expect(read('{"a":1} or {"a":1}')).toEqual({ ok: true, value: { a: 1 } })
    expect(read('{"a":1} or {"a":2}')).toEqual({ ok: false, message: expect.stringContaining('2 different') })
  })

  it.each([
    ['nesting without measure', `so: ${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['brackets without end', '['.repeat(250_000)],
    ['quotes without end', '{"'.repeat(120_000)],
    ['commas', ', '.repeat(120_000)],
    ['a reply that is too long', `{"a":"${'x'.repeat(300_000)}"}`],
  ])('gives up on %s in good time', (_, text) => {
    const startMs = performance.now()
    expect(read(text).ok).toBe(false)
    expect(performance.now() - startMs).toBeLessThan(2000)
  })
})

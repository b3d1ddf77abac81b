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
  ])('gives up on %s', (_, text) => {
    expect(read(text).ok).toBe(false)
  })
})

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, isCutJson, numberOf, parseJson, parseJsonTwice } from './json.ts'

function deep(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels)
}

function listOf(length: number): string {
  return `[${Array.from({ length }, () => '1').join(',')}]`
}

describe('parseJson', () => {
  it('restores what JSON.stringify wrote', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('returns text that is not JSON unchanged', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        let parsed: unknown = text
        try {
          parsed = JSON.parse(text)
        } catch {
          // Stays text.
        }
        expect(parseJson(text)).toEqual(parsed)
      }),
    )
  })

  it('leaves values as text that are nested too deeply to be printed again', () => {
    expect(Array.isArray(parseJson(deep(500)))).toBe(true)
    expect(parseJson(deep(3000))).toBe(deep(3000))
    expect(parseJson(`["${'['.repeat(5000)}\\"]"]`)).toEqual([`${'['.repeat(5000)}"]`])
  })

  it('leaves text of more than 50,000 values as text, whatever its strings hold', () => {
    expect(parseJson(listOf(49_000))).toHaveLength(49_000)
    expect(parseJson(listOf(51_000))).toBe(listOf(51_000))
    const pairs = `{${Array.from({ length: 51_000 }, (_, index) => `"a${index}":[]`).join(',')}}`
    expect(parseJson(pairs)).toBe(pairs)
    expect(parseJson(JSON.stringify([','.repeat(100_000)]))).toEqual([','.repeat(100_000)])
  })

  it('leaves text of more than 4 MiB as text', () => {
    const [short, long] = [4_000_000, 4 * 1024 * 1024].map((length) => JSON.stringify(['x'.repeat(length)]))
    expect(parseJson(short)).toEqual(['x'.repeat(4_000_000)])
    expect(parseJson(long)).toBe(long)
  })

  it('opens JSON inside a JSON string once more, when asked', () => {
    expect(parseJsonTwice('"{\\"city\\":\\"Oslo\\"}"')).toEqual({ city: 'Oslo' })
    expect(parseJsonTwice('"Oslo"')).toBe('Oslo')
  })
})

const throws = (): never => {
  throw new Error('trap')
}

it('canonicalJson never throws: a value that cannot be read is written as unreadable', () => {
  const list: unknown = new Proxy([], { get: throws })
  const object: unknown = new Proxy({}, { ownKeys: throws })
  expect(canonicalJson({ a: [list, 1], b: object })).toBe('{"a":[unreadable,1],"b":unreadable}')
})

it('canonicalJson is the same for equal values, whatever the order of their keys', () => {
  expect(canonicalJson({ b: [1, { d: 1, c: 2 }], a: undefined })).toBe('{"b":[1,{"c":2,"d":1}]}')
})

it('isCutJson distinguishes half a record from words that begin with a bracket', () => {
  expect(isCutJson('[{"role":"us')).toBe(true)
  expect(isCutJson('[{"role":"user"}]')).toBe(false)
  expect(isCutJson('[note] see below')).toBe(false)
})

it('numberOf reads numbers and the texts of numbers', () => {
  expect([7, '7', 7n, '', 'seven', Number.NaN, null].map(numberOf)).toEqual([7, 7, 7, ...Array(4).fill(undefined)])
})

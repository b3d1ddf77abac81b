import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { loadLinearPatterns } from './linear-patterns.ts'
import { programSizeOf } from './program-size.ts'

const patterns = await loadLinearPatterns()
if (patterns === undefined) throw new Error('Expected the engine to be installed.')
const matches = (pattern: string, text: string) => patterns.limits().matches(pattern, text)

/** Patterns of what tool schemas are written in, and texts that come near them. */
const { pattern } = fc.letrec<{ pattern: string }>((tie) => {
  const atom = fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(
      'a',
      'b',
      '0',
      '-',
      '_',
      ' ',
      '.',
      '\\d',
      '\\D',
      '\\w',
      '\\W',
      '\\s',
      '\\S',
      '\\.',
      '\\/',
      'é',
      '😀',
    ),
    fc.constantFrom('[a-z]', '[^a]', '[A-Z0-9]', '[\\w.-]', '[^\\s@]', '^', '$', '\\b', '\\t', '\\n', '\\x41'),
    tie('pattern').map((inner) => `(${inner})`),
    tie('pattern').map((inner) => `(?:${inner})`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
  )
  const repeat = fc.constantFrom('', '', '*', '+', '?', '*?', '+?', '{2}', '{1,3}', '{2,}')
  const term = fc.tuple(atom, repeat).map(([inner, many]) => (/^(?:\^|\$|\\b)$/.test(inner) ? inner : inner + many))
  return { pattern: fc.array(term, { minLength: 1, maxLength: 4 }).map((terms) => terms.join('')) }
})
const text = fc
  .array(fc.constantFrom('a', 'b', 'A', '0', '9', '-', '_', ' ', '.', '/', '@', '\n', '\t', 'é', '😀'), {
    maxLength: 8,
  })
  .map((all) => all.join(''))

describe('patterns of recorded schemas', () => {
  test('have the meaning that they have in JavaScript, if they are checked at all', () => {
    let checked = 0
    fc.assert(
      fc.property(pattern, text, (given, value) => {
        const isMatch = matches(given, value)
        if (isMatch === undefined) return
        checked += 1
        expect(isMatch).toBe(new RegExp(given, 'u').test(value))
      }),
      { numRuns: 500 },
    )
    expect(checked).toBeGreaterThan(350)
  })

  test.each([
    ['(?=a)b', 'look-around'],
    ['(a)\\1', 'a back-reference'],
    ['\\p{L}', 'a Unicode class'],
    ['(?P<x>a)', "Python's syntax"],
    ['[[:alpha:]]', "POSIX's syntax"],
    ['((a{1,30}){1,30}){1,30}', 'a program that is too large'],
    [`a{1,${'9'.repeat(5)}}`, 'a repeat that is too large'],
    ['a'.repeat(600), 'a pattern that is too long'],
    ['(a', 'a pattern that cannot be read'],
  ])('%s is not checked: %s', (given) => {
    expect(matches(given, 'a')).toBeUndefined()
  })

  test.each(['a\rb', 'a\u00A0b', 'a\u2028b', '\uD800'])(
    'a text that the two count differently is not checked',
    (value) => {
      expect(matches('^.\\s*.$', value)).toBeUndefined()
    },
  )

  test.each(['^(\\w+\\s?)+$', '^(a+)+$', '(a|a)*b$', '(.*)*x', '^(([a-z])+.)+[A-Z]([a-z])+$', '(\\w{1,20}){1,12}$'])(
    '%s, which is slow in JavaScript, ends on texts of any length',
    (given) => {
      for (const length of [31, 1000, 10_000, 1_000_000]) {
        const value = `${'a'.repeat(length)}!`
        const limits = patterns.limits()
        for (let time = 0; time < 50; time += 1)
          expect([true, false, undefined]).toContain(limits.matches(given, value))
      }
    },
  )

  test('share one limit, above which they are not checked', () => {
    const limits = patterns.limits()
    const results = Array.from({ length: 1000 }, () => limits.matches('^[a-z]+$', 'a'.repeat(1000)))
    expect(results[0]).toBe(true)
    expect(results.at(-1)).toBeUndefined()
  })

  test('are not checked on a text that takes more than the limit by itself', () => {
    expect(matches('^a+$', 'a'.repeat(1000))).toBe(true)
    expect(matches('^a+$', 'a'.repeat(1_000_000))).toBeUndefined()
  })

  test('are compiled only up to a number for each run, however small they are', () => {
    const limits = patterns.limits()
    const results = Array.from({ length: 3000 }, (_, index) => limits.matches(`^k${index}$`, `k${index}`))
    expect(results[0]).toBe(true)
    expect(results.filter((result) => result === true).length).toBeLessThan(100)
  })
})

test.each([
  ['abc', 3],
  ['a{10}', 11],
  ['(ab){3}', 16],
  ['[a-z]{2,5}x', 7],
  ['\\d{3}', 4],
  ['a)', undefined],
  ['(a', undefined],
])('the program of %s has about %s instructions', (given, size) => {
  expect(programSizeOf(given)).toBe(size)
})

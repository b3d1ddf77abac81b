import * as fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, it } from 'vitest'

import { withoutPause } from '../scoring/background.ts'
import { SteppedPattern } from './stepped-pattern.ts'

const PATTERNS = [
  String.raw`[\w.+-]+@[\w-]+\.[\w.]+`,
  String.raw`\b\d{4}[ -]?\d{4}\b`,
  '(?i)ann',
  String.raw`\d+\s+\w+`,
  '^a',
  'a$',
  '(?m)^a|b$',
  'a.*b|a',
  'x*',
  String.raw`\b`,
  String.raw`\B`,
  '[^@]+@',
  String.raw`(?i)ann\s*\S+`,
  String.raw`(?i)ann\s*(?:[:=-]\s*)?\S{3,}`,
  String.raw`\bx\S*\s(?:b|ann)?`,
  String.raw`(?m)\n$|^\s`,
  '(?s)a.*b',
  '',
]

it('replaces in steps what it replaces in the whole text', () => {
  const piece = fc.constantFrom(
    'ann@example.com',
    '12345678',
    '1234 5678',
    'Ann',
    'a',
    'b',
    ' ',
    '\n',
    'é',
    '😀',
    '-',
    '@',
    'x',
  )
  const texts = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('').repeat(60))
  const filled = fc.tuple(fc.nat(4200), texts).map(([before, text]) => 'a-'.repeat(before).slice(before) + text)
  fc.assert(
    fc.property(fc.constantFrom(...PATTERNS), filled, (pattern, text) => {
      const whole = RE2JS.compile(pattern).matcher(text).replaceAll('[redacted]')
      expect(withoutPause(new SteppedPattern(pattern).replaceAll(text, '[redacted]'))).toBe(whole)
    }),
    { numRuns: 60 },
  )
})

it.each([
  [String.raw`[\w.+-]+@[\w-]+\.[\w.]+`, 'no mail in here, '],
  [String.raw`\d+\s+\w+`, '12 ann@example.com; '],
  ['(?i).*ann.*', 'one line of ann\n'],
  [String.raw`(?i)password\s*\S+`, 'the password is: x. '],
])('reads about 4,000 characters of a long text in a step: %s', (pattern, line) => {
  const steps = new SteppedPattern(pattern).replaceAll(line.repeat(10_000), '')
  let count = 1
  while (steps.next().done !== true) count += 1
  expect(count).toBeGreaterThan((10_000 * line.length) / 4200)
})

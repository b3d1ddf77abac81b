import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { parsePythonFields, parsePythonLiteral } from './python-literal.ts'

it.each([
  [`{'city': 'Paris', 'n': -1.5e3, 'ok': True, 'no': None}`, { city: 'Paris', n: -1500, ok: true, no: null }],
  [`[1, (2, "it's"), {}]`, [1, [2, "it's"], {}]],
  [`{'a': 'x\\n\\'y\\' \\u00e9 \\x41'}`, { a: "x\n'y' é A" }],
  [
    `Call(arguments='{}', name='search', caller=None, of=Inner(x=[]))`,
    { arguments: '{}', name: 'search', caller: null, of: { x: [] } },
  ],
  [
    `[Message(role=<Role.USER: 'user'>, call=<function T.<locals>.<lambda> at 0x7f47>, of=None)]`,
    [{ role: 'user', call: null, of: null }],
  ],
  [`{'__proto__': 1, 'a': 2}`, { a: 2 }],
])('reads %s', (text, value) => {
  expect(parsePythonLiteral(text)).toEqual(value)
})

it.each([
  '',
  'plain words',
  '{"a": 1} and more',
  "{'a': ",
  "{'a' 1}",
  "['x",
  'f(1)',
  '<object at 0x1>',
  "{'a': <x>}",
  "'x'",
])('is undefined for %s', (text) => {
  expect(parsePythonLiteral(text)).toBeUndefined()
})

it('reads the fields of an object that is printed without its name', () => {
  expect(parsePythonFields(`content='a "b"' name=None calls=[{'x': 1}]`)).toEqual({
    content: 'a "b"',
    name: null,
    calls: [{ x: 1 }],
  })
  for (const text of ['', 'plain words', 'a=1 b', 'a=', `a='x`, 'a=1 and more']) {
    expect(parsePythonFields(text)).toBeUndefined()
  }
})

it(
  'never throws, and ends on long texts, on which a search back from each place would not',
  { timeout: 60_000 },
  () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        parsePythonLiteral(text)
        parsePythonFields(`a=${text}`)
        parsePythonLiteral(`{${text}`)
      }),
    )
    for (const piece of ['[', '{', '(', "'", '\\', ' ', '\n', 'a', '1', 'a(', '[1,', "{'a':", '{1:[']) {
      expect(() => parsePythonLiteral(`{'a': ${piece.repeat(300_000)}`)).not.toThrow()
      expect(() => parsePythonLiteral(piece.repeat(300_000))).not.toThrow()
    }
  },
)

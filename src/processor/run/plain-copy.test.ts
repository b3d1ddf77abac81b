import { expect, it } from 'vitest'

import { withoutPause } from '../../scoring/in-slices.ts'
import { plainCopy } from './plain-copy.ts'

const copyOf = (value: unknown): unknown => withoutPause(plainCopy(value))
const byJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? 'null')

const withHole = [1, 2, 3]
Reflect.deleteProperty(withHole, '1')

it.each([
  ['texts, numbers and nothing', { a: 'x', b: [1, null, true], c: undefined, d: [undefined] }],
  ['numbers that JSON cannot write', [Number.NaN, Infinity, -0]],
  ['functions and symbols', { a: () => 1, b: Symbol('x'), c: [() => 1] }],
  ['dates', { at: new Date(0) }],
  ['what has a form of its own for JSON', { a: { toJSON: (key: string) => [key, { toJSON: 1 }] } }],
  ['a key that is __proto__', JSON.parse('{"__proto__":{"polluted":1},"a":{"__proto__":2}}')],
  ['lists with holes', withHole],
  ['a text alone', 'x'],
])('copies %s as JSON does', (_, value) => {
  expect(copyOf(value)).toEqual(byJson(value))
  expect(JSON.stringify(copyOf(value))).toBe(JSON.stringify(value))
})

it('shares no object with the original', () => {
  const original = { a: [{ b: 1 }] }
  const copy = copyOf(original) as typeof original
  if (copy.a[0]) copy.a[0].b = 2
  expect(original).toEqual({ a: [{ b: 1 }] })
  expect(Reflect.get({}, 'polluted')).toBeUndefined()
})

it('refuses what JSON refuses', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = [circular]
  expect(() => copyOf(circular)).toThrow(RangeError)
  expect(() => copyOf({ a: 1n })).toThrow(TypeError)
  const trap = Object.defineProperty({}, 'a', { enumerable: true, get: () => nope() })
  expect(() => copyOf(trap)).toThrow('nope')
})

it('pauses after every few hundred values', () => {
  const steps = plainCopy(Array.from({ length: 100 }, () => Array.from({ length: 100 }, (_, index) => index)))
  let pauses = 0
  while (steps.next().done !== true) pauses += 1
  expect(pauses).toBeGreaterThan(15)
})

function nope(): never {
  throw new Error('nope')
}

it('throws on a list that is longer than what it holds', () => {
  expect(() => [...plainCopy({ list: Object.assign([], { length: 2 ** 32 - 1 }) })]).toThrow('expected a shorter list')
})

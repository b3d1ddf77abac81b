import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCutJson } from './cut-json.ts'

test('of a list that was cut, the whole elements and the whole members of the last one stay', () => {
  const text = '[{"id":"a","name":"x","input":{"q":1}},{"id":"b","name":"y","input":{"q":"lo'
  expect(parseCutJson(text, 2)).toEqual([
    { id: 'a', name: 'x', input: { q: 1 } },
    { id: 'b', name: 'y' },
  ])
})

test('a text, a number and a name of a member that were cut are left out', () => {
  expect(parseCutJson('{"a":1,"b":"tw', 1)).toEqual({ a: 1 })
  expect(parseCutJson('{"a":1,"b":12', 1)).toEqual({ a: 1 })
  expect(parseCutJson('{"a":"\\"}","na', 1)).toEqual({ a: '"}' })
})

test('what never was JSON is undefined', () => {
  expect(parseCutJson('plain words', 2)).toBeUndefined()
  expect(parseCutJson('[x, y', 2)).toBeUndefined()
})

test('whatever is cut off a list, the elements before are as they were', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.nat(), (list, cut) => {
      const text = JSON.stringify(list)
      const kept = parseCutJson(text.slice(0, 1 + (cut % Math.max(1, text.length - 1))), 1)
      expect(kept).toEqual(JSON.parse(JSON.stringify(list.slice(0, (kept as unknown[]).length))))
    }),
  )
})

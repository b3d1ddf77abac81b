import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCutJson } from './cut-json.ts'

test('the complete elements of a cut list remain, and the complete members of the last one', () => {
  const text = '[{"id":"a","name":"x","input":{"q":1}},{"id":"b","name":"y","input":{"q":"lo'
  expect(parseCutJson(text, 2)).toEqual([
    { id: 'a', name: 'x', input: { q: 1 } },
    { id: 'b', name: 'y' },
  ])
})

test('a cut text, number or member name is left out', () => {
  expect(parseCutJson('{"a":1,"b":"tw', 1)).toEqual({ a: 1 })
  expect(parseCutJson('{"a":1,"b":12', 1)).toEqual({ a: 1 })
  expect(parseCutJson('{"a":"\\"}","na', 1)).toEqual({ a: '"}' })
})

test('the result is undefined for text that was never JSON', () => {
  expect(parseCutJson('plain words', 2)).toBeUndefined()
  expect(parseCutJson('[x, y', 2)).toBeUndefined()
})

test('the elements before the cut of a list are unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 3 })), fc.nat(), (list, cut) => {
      const text = JSON.stringify(list)
      const kept = parseCutJson(text.slice(0, 1 + (cut % Math.max(1, text.length - 1))), 1)
      expect(kept).toEqual(JSON.parse(JSON.stringify(list.slice(0, (kept as unknown[]).length))))
    }),
  )
})

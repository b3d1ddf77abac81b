// oxlint-disable unicorn/no-thenable -- `then` is a keyword of JSON Schema
import { expect, test } from 'vitest'

import { evaluate } from '../../scoring/evaluate.ts'
import { call, runOf } from '../../../test/fixtures/code-runs.ts'
import { createOutputFormatScorer } from './output-format.ts'
import { createToolArgumentsScorer } from './tool-arguments.ts'

const EVIL = '^(\\w+\\s?)+$'
const evilText = `${'a'.repeat(40)}!`

const schemas: readonly (readonly [string, Readonly<Record<string, unknown>>, unknown])[] = [
  ['pattern', { properties: { id: { pattern: EVIL } } }, { id: evilText }],
  ['patternProperties', { patternProperties: { [EVIL]: {} } }, { [evilText]: 1 }],
  ['propertyNames', { propertyNames: { pattern: EVIL } }, { [evilText]: 1 }],
  [
    'items',
    { properties: { ids: { items: { pattern: EVIL } } } },
    { ids: Array.from({ length: 500 }, () => evilText) },
  ],
  ['a reference', { $ref: '#/$defs/id', $defs: { id: { propertyNames: { pattern: EVIL } } } }, { [evilText]: 1 }],
  ['not', { properties: { id: { not: { pattern: EVIL } } } }, { id: evilText }],
  ['if', { properties: { id: { if: { pattern: EVIL }, then: {} } } }, { id: evilText }],
  ['alternatives', { properties: { id: { anyOf: [{ pattern: EVIL }, { pattern: '(a+)+$' }] } } }, { id: evilText }],
]

test.each(schemas)('a slow pattern of a recorded schema, by %s, ends', async (_by, parameters, args) => {
  const run = runOf({ toolCalls: [call('t', args)], availableTools: [{ name: 't', parameters }] })
  const scorer = createToolArgumentsScorer()
  const { score } = await evaluate(scorer, run)
  expect(score.status).toBe('scored')
})

test('patterns of recorded schemas still find errors', async () => {
  const parameters = { properties: { zip: { type: 'string', pattern: '^\\d{5}$' } } }
  const scorer = createToolArgumentsScorer()
  const toolCalls = [call('t', { zip: '12345' }), call('t', { zip: '1234' })]
  const { score } = await evaluate(scorer, runOf({ toolCalls, availableTools: [{ name: 't', parameters }] }))
  expect(score).toMatchObject({ status: 'scored', value: 0.5, explanation: expect.stringContaining('must match') })
})

test('an unsupported pattern asserts nothing, not even below not, and is named', async () => {
  const parameters = {
    properties: {
      a: { pattern: '^(?!x)' },
      b: { not: { pattern: '(a)\\1' } },
      c: { oneOf: [{ pattern: '(?=y)' }, {}] },
    },
    patternProperties: { '(?<=z)': { type: 'number' } },
    additionalProperties: false,
  }
  const toolCalls = [call('t', { a: 'x', b: 'aa', c: 'y' })]
  const { score } = await evaluate(
    createToolArgumentsScorer(),
    runOf({ toolCalls, availableTools: [{ name: 't', parameters }] }),
  )
  expect(score).toMatchObject({ status: 'scored', value: 1, explanation: expect.stringContaining('Not checked: ') })
  expect(score).toMatchObject({ details: { unchecked: expect.arrayContaining([expect.stringContaining('(?!x)')]) } })
})

test('schemas that exceed the limits are checked in part', async () => {
  const many = Array.from({ length: 3000 }, (_, index) => ({ text: `${index}`.repeat(20) }))
  const parameters = { properties: { list: { items: { enum: many }, uniqueItems: true } } }
  const args = { list: Array.from({ length: 3000 }, (_, index) => ({ text: `x${index}`.repeat(20) })) }
  const toolCalls = Array.from({ length: 20 }, () => call('t', args))
  const { score } = await evaluate(
    createToolArgumentsScorer(),
    runOf({ toolCalls, availableTools: [{ name: 't', parameters }] }),
  )
  expect(score.status).toBe('scored')
})

test('thousands of patterns for thousands of keys are checked in part', async () => {
  const patterns = Array.from({ length: 10_000 }, (_, index) => [`${EVIL}${index}`, { type: 'string' }])
  const parameters = { patternProperties: Object.fromEntries(patterns) }
  const args = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`${evilText}${index}`, 'x']))
  const run = runOf({ toolCalls: [call('t', args)], availableTools: [{ name: 't', parameters }] })
  const { score } = await evaluate(createToolArgumentsScorer(), run)
  expect(score).toMatchObject({ status: 'scored', explanation: expect.stringContaining('Not checked: ') })
})

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
const objects = (count: number): object[] => numbers(count).map(() => ({}))
const times = (count: number, schema: object): object => ({ allOf: numbers(count).map(() => schema) })
const eachItem = (schema: object): object => ({ items: { not: schema } })

test.each<[string, object, unknown]>([
  ['a list of types', eachItem({ type: Array(40_000).fill('null') }), numbers(20_000)],
  ['nested lists of types', eachItem({ type: JSON.parse(`${'['.repeat(900)}${']'.repeat(900)}`) }), numbers(20_000)],
  ['a constant', eachItem({ const: numbers(40_000) }), numbers(20_000)],
  ['names that are required', eachItem({ required: numbers(40_000) }), objects(15_000)],
  [
    'dependent names',
    { items: { dependentRequired: Object.fromEntries(numbers(20_000).map((name) => [`k${name}`, []])) } },
    objects(15_000),
  ],
  [
    'properties by patterns',
    { items: { patternProperties: Object.fromEntries(numbers(20_000).map((name) => [`k${name}`, {}])) } },
    objects(15_000),
  ],
  ['a reference', eachItem({ $ref: `#${'/a'.repeat(100_000)}` }), numbers(20_000)],
  ['minLength', times(10_000, { minLength: 600_001 }), 'ab'.repeat(600_000)],
  ['maxLength', times(10_000, { maxLength: 600_001 }), '😀'.repeat(600_000)],
  ['a pattern', times(10_000, { pattern: '^a' }), 'ab'.repeat(600_000)],
  ['a pattern, on a text within the limit', times(10_000, { pattern: '^a' }), 'ab'.repeat(95_000)],
])('a long part of a recorded schema that meets many values ends: %s', async (_, schema, value) => {
  const parameters = { properties: { x: schema } }
  const run = runOf({ toolCalls: [call('t', { x: value })], availableTools: [{ name: 't', parameters }] })
  const { score } = await evaluate(createToolArgumentsScorer(), run)
  expect(score.status).toBe('scored')
})

test('a message names no more types than there are', async () => {
  const parameters = { properties: { x: { items: { type: Array(40_000).fill('null') } } } }
  const run = runOf({ toolCalls: [call('t', { x: numbers(30) })], availableTools: [{ name: 't', parameters }] })
  const { score } = await evaluate(createToolArgumentsScorer(), run)
  expect(score).toMatchObject({ status: 'scored', value: 0 })
  expect(JSON.stringify(score).length).toBeLessThan(10_000)
})

test("the developer's own patterns run after the span's end, on texts of bounded length", async () => {
  const parameters = { properties: { id: { pattern: '^a+$' } } }
  expect(createToolArgumentsScorer({ tools: [{ name: 't', parameters }] }).inline).toBe(false)
  expect(createToolArgumentsScorer({ tools: [{ name: 't', parameters: { type: 'object' } }] }).inline).toBe(true)
  const scorer = createOutputFormatScorer({ pattern: /x$/, minLength: 1 })
  expect(scorer.inline).toBe(false)
  expect(createOutputFormatScorer({ minLength: 1 }).inline).toBe(true)
  const { score } = await evaluate(scorer, runOf({ output: 'a'.repeat(50_000) }))
  expect(score).toMatchObject({ status: 'scored', value: 1, explanation: expect.stringContaining('too long') })
  const alone = await evaluate(createOutputFormatScorer({ pattern: /x$/ }), runOf({ output: 'a'.repeat(50_000) }))
  expect(alone.score).toMatchObject({ status: 'skipped', reason: 'not-applicable' })
})

import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { validateJson } from './json-schema.ts'

const ajv = new Ajv2020({ strict: false, logger: false })
const isValid = (schema: unknown, value: unknown): boolean => validateJson(schema, value).length === 0

const values = fc.jsonValue({ maxDepth: 3 })
const small = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, 1, 1.5, -3, 7, '', 'a', 'ab', 'über', '😀', [], [1], [1, 1], ['a', 2], {}),
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom<unknown>(1, 'a', null, [1], { a: 1 })),
)
const size = fc.integer({ min: 0, max: 3 })
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')

/** Schemas of one to three keywords, out of all that are known but `multipleOf`, which Ajv gets wrong from 1e21 on. */
const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
  const inner = tie('schema')
  const inners = fc.array(inner, { minLength: 1, maxLength: 2 })
  const keywords: readonly [string, fc.Arbitrary<unknown>][] = [
    ['type', fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 }))],
    ['enum', fc.array(small, { minLength: 1, maxLength: 3 })],
    ['const', small],
    ['minimum', size],
    ['maximum', size],
    ['exclusiveMinimum', size],
    ['exclusiveMaximum', size],
    ['minLength', size],
    ['maxLength', size],
    ['pattern', fc.constantFrom('^a', 'b$', '^.$', '\\d')],
    ['minItems', size],
    ['maxItems', size],
    ['uniqueItems', fc.boolean()],
    ['items', inner],
    ['prefixItems', inners],
    ['contains', type.map((name) => ({ type: name }))],
    ['properties', fc.dictionary(fc.constantFrom('a', 'b'), inner)],
    ['patternProperties', fc.dictionary(fc.constantFrom('^a', 'c'), inner)],
    ['additionalProperties', inner],
    ['propertyNames', inner],
    ['required', fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 })],
    ['dependentRequired', fc.dictionary(fc.constantFrom('a', 'b'), fc.uniqueArray(fc.constantFrom('b', 'c')))],
    ['minProperties', size],
    ['maxProperties', size],
    ['allOf', inners],
    ['anyOf', inners],
    ['oneOf', inners],
    ['not', inner],
    ['if', inner],
    ['then', inner],
    ['else', inner],
  ]
  const keyword = fc.oneof(...keywords.map(([name, of]) => of.map((value): [string, unknown] => [name, value])))
  const some = fc.array(keyword, { minLength: 1, maxLength: 3 }).map((entries) => Object.fromEntries(entries))
  return { schema: fc.oneof({ maxDepth: 2, depthSize: 'xsmall' }, fc.boolean(), some, some) }
})

/** Of these two together Ajv finds the empty list valid, which contains nothing. */
function hasPrefixAndContains(given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return false
  return ('prefixItems' in given && 'contains' in given) || Object.values(given).some(hasPrefixAndContains)
}

/** `undefined` where Ajv itself throws, as for `oneOf` beside `patternProperties`, where a branch has `additionalProperties`. */
function verdictOfAjv(given: object, value: unknown): boolean | undefined {
  try {
    return ajv.validate(given, value)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

describe('JSON Schema validation', () => {
  it('agrees with Ajv on any schema of the known keywords and any value', () => {
    fc.assert(
      fc.property(schema, fc.oneof(small, values), (given, value) => {
        // As JSON: what is generated has no prototype, which Ajv compares.
        const [plain, plainValue] = JSON.parse(JSON.stringify([given, value]))
        fc.pre(!hasPrefixAndContains(plain))
        const expected = verdictOfAjv(plain, plainValue)
        fc.pre(expected !== undefined)
        expect(isValid(plain, plainValue)).toBe(expected)
      }),
      { numRuns: 600 },
    )
  })

  it.each<[unknown, unknown, string, string]>([
    [{ type: 'object', properties: { days: { type: 'integer' } } }, { days: '3' }, 'days', 'type_error'],
    [{ required: ['city'] }, {}, 'city', 'missing_required'],
    [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, 'b', 'unexpected_param'],
    [{ items: { properties: { name: { enum: ['x'] } } } }, [{ name: 'x' }, { name: 'y' }], '[1].name', 'value_error'],
    [{ anyOf: [{ type: 'string' }, { required: ['a'] }] }, {}, 'a', 'missing_required'],
  ])('says of %j and %j where and what is wrong', (given, value, path, code) => {
    expect(validateJson(given, value)[0]).toMatchObject({ path, code, message: expect.any(String) })
  })

  it.each<[string, unknown, unknown, boolean]>([
    ['references into the schema', { $ref: '#/$defs/n', $defs: { n: { type: 'number' } } }, 'x', false],
    ['references with escapes', { $ref: '#/definitions/a~1b', definitions: { 'a/b': { type: 'number' } } }, 1, true],
    [
      'schemas that refer to themselves',
      { properties: { next: { $ref: '#' } }, required: ['next'] },
      { next: { next: {} } },
      false,
    ],
    ['references elsewhere assert nothing', { $ref: 'https://example.com/schema' }, 'x', true],
    ['nullable, of OpenAPI', { type: 'string', nullable: true }, null, true],
    ['items as a list, of draft 7', { items: [{ type: 'number' }], additionalItems: false }, [1, 2], false],
    ['exclusive bounds, of draft 4', { minimum: 1, exclusiveMinimum: true }, 1, false],
    ['the types of Python', { type: 'dict', properties: { a: { type: 'float' } } }, { a: 1 }, true],
    ['multiples of decimals', { multipleOf: 0.1 }, 0.3, true],
    ['what is no multiple', { multipleOf: 0.5 }, 1_000_000_000.25, false],
    ['multiples that are large', { multipleOf: 0.5 }, 5e20, true],
    ['what is too small for a multiple', { multipleOf: 0.5 }, 5e-324, false],
    ['a pattern that cannot be read asserts nothing', { pattern: '(?P<x>a)' }, 'b', true],
    ['no schema', undefined, 'x', true],
    ['format asserts nothing', { format: 'email' }, 'x', true],
  ])('knows %s', (_what, given, value, valid) => {
    expect(isValid(given, value)).toBe(valid)
  })

  it('shows long keys and patterns in part, however long they are', () => {
    const [long, value] = ['k'.repeat(1_000_000), 'x']
    const errors = [
      ...validateJson({ required: [long] }, {}),
      ...validateJson({ dependentRequired: { [long]: ['other'] } }, { [long]: 1 }),
      ...validateJson({ additionalProperties: false }, { [long]: value }),
      ...validateJson({ pattern: `^${long.slice(0, 400)}$` }, value),
    ]
    expect(errors).toHaveLength(4)
    for (const { path, message } of errors) expect(path.length + message.length).toBeLessThan(1000)
  })

  it('terminates on schemas that refer to themselves', () => {
    const endless = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }
    expect(isValid(endless, 1)).toBe(true)
    const branching = { anyOf: [{ $ref: '#' }, { $ref: '#' }], type: 'string' }
    expect(isValid(branching, 1)).toBe(false)
    const hopeless = { anyOf: [{ $ref: '#' }, { $ref: '#' }], minLength: 2 }
    expect(isValid(hopeless, 'x')).toBe(false)
  })
})

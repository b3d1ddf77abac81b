import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { ownSchemaCheck } from './schema/schema-check.ts'
import { checkArguments } from './allowed-arguments.ts'
import type { AllowedArguments } from './allowed-arguments.ts'

interface Vector {
  readonly schema: unknown
  readonly allowed: AllowedArguments
  readonly arguments: Readonly<Record<string, unknown>>
  readonly valid: boolean
  readonly errorType?: string
}

/**
 * Random calls with what the leaderboard's own `simple_function_checker` (Python, gorilla at 6ea5797) says of them. Left out:
 * whole numbers in lists of floats, which Python distinguishes from floats and JSON does not.
 */
const vectors = readFileSync('test/fixtures/bfcl-arguments.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line): Vector => JSON.parse(line))

/** `type_error:nested` and the like; a missing optional argument is missing like any other. */
function toCode(errorType: string): string {
  if (errorType.includes(':missing_')) return 'missing_required'
  if (errorType.endsWith(':unexpected_param')) return 'unexpected_param'
  return errorType.split(':')[0] ?? ''
}

const schema = { properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] }
const allowed = { city: ['Oslo', 'Oslo, Norway'], days: [3, ''] }

describe('arguments against allowed values', () => {
  it('agrees with the leaderboard on every vector, valid and invalid', () => {
    const wrong = vectors.filter(
      (vector) =>
        (checkArguments(vector.arguments, vector.allowed, {
          schema: vector.schema,
          check: ownSchemaCheck(),
          texts: new Map(),
          shows: true,
          strict: false,
        }).length ===
          0) !==
        vector.valid,
    )
    expect(wrong).toEqual([])
    expect(vectors.filter(({ valid }) => valid).length).toBeGreaterThan(80)
    expect(vectors.filter(({ valid }) => !valid).length).toBeGreaterThan(150)
  })

  it('names the error by the leaderboard code', () => {
    const wrong = vectors.filter((vector) => {
      const codes = checkArguments(vector.arguments, vector.allowed, {
        schema: vector.schema,
        check: ownSchemaCheck(),
        texts: new Map(),
        shows: true,
        strict: false,
      }).map(({ code }) => code)
      return !vector.valid && !codes.some((code) => code === toCode(vector.errorType ?? ''))
    })
    expect(wrong).toEqual([])
  })

  it.each([
    [{ city: 'oslo norway' }, []],
    [{ city: 'Oslo', days: 3 }, []],
    [{ days: 3 }, ['missing_required']],
    [{ city: 'Bergen' }, ['value_error']],
    [{ city: 'Oslo', days: '3' }, ['type_error']],
    [{ city: 'Oslo', unit: 'C' }, ['unexpected_param']],
    ['{"city":', ['type_error']],
    [undefined, ['missing_required']],
  ])('%j gives %j', (args, codes) => {
    expect(
      checkArguments(args, allowed, {
        schema,
        check: ownSchemaCheck(),
        texts: new Map(),
        shows: true,
        strict: false,
      }).map(({ code }) => code),
    ).toEqual(codes)
  })

  it('compares values as they are in strict mode, at any depth', () => {
    const deep = { filter: [{ tags: ['a', 'b'], range: { from: 1 } }] }
    expect(
      checkArguments({ filter: { range: { from: 1 }, tags: ['a', 'b'] } }, deep, {
        schema: undefined,
        check: ownSchemaCheck(),
        texts: new Map(),
        shows: true,
        strict: true,
      }),
    ).toEqual([])
    expect(
      checkArguments({ filter: { range: { from: 2 }, tags: ['a', 'b'] } }, deep, {
        schema: undefined,
        check: ownSchemaCheck(),
        texts: new Map(),
        shows: true,
        strict: true,
      }),
    ).toHaveLength(1)
    expect(
      checkArguments({ city: 'oslo' }, allowed, {
        schema,
        check: ownSchemaCheck(),
        texts: new Map(),
        shows: true,
        strict: true,
      }).map(({ code }) => code),
    ).toEqual(['value_error'])
    const bounded = { properties: { days: { type: 'integer', maximum: 2 } } }
    expect(
      checkArguments(
        { days: 3 },
        { days: [3] },
        { schema: bounded, check: ownSchemaCheck(), texts: new Map(), shows: true, strict: true },
      )[0],
    ).toMatchObject({
      path: 'days',
      code: 'value_error',
    })
  })
})

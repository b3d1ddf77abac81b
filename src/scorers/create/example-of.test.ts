import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { exampleOf } from './example-of.ts'
import { validateJson } from '../code/schema/json-schema.ts'

interface Tree {
  readonly name: string
  readonly children: readonly Tree[]
}
const tree: z.ZodType<Tree> = z.object({ name: z.string(), children: z.lazy(() => z.array(tree)) })

describe('exampleOf', () => {
  it.each([
    ['an object', z.object({ remarks: z.array(z.object({ text: z.string(), kind: z.boolean() })) })],
    ['a choice', z.object({ verdict: z.enum(['good', 'bad']), fixed: z.literal('x') })],
    ['numbers in a range', z.object({ score: z.number().min(1).max(5), count: z.int().nonnegative() })],
    ['what may be absent or null', z.object({ a: z.string().optional(), b: z.number().nullable() })],
    ['a union', z.union([z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })])],
    ['a pair', z.object({ pair: z.tuple([z.string(), z.number()]) })],
    ['an intersection', z.object({ a: z.string() }).and(z.object({ b: z.boolean() }))],
  ])('of %s is valid by its schema', (_, shape) => {
    const schema = z.toJSONSchema(shape) as Readonly<Record<string, unknown>>
    const example = exampleOf(schema)
    expect(validateJson(schema, example)).toEqual([])
    expect(shape.safeParse(example).success).toBe(true)
  })

  it('is the least favourable value: a copied example earns nothing', () => {
    expect(
      exampleOf({
        type: 'object',
        properties: {
          verdict: { enum: ['good', 'bad'] },
          score: { type: 'number', minimum: 1 },
          ok: { type: 'boolean' },
        },
      }),
    ).toEqual({ verdict: 'bad', score: 1, ok: false })
  })

  it('terminates if a schema refers to itself, or to a missing definition', () => {
    expect(JSON.stringify(exampleOf(z.toJSONSchema(tree))).length).toBeLessThan(500)
    expect(exampleOf({ type: 'object', properties: { a: { $ref: '#/$defs/none' }, b: true } })).toEqual({
      a: '…',
      b: '…',
    })
    expect(exampleOf(undefined)).toBe('…')
  })
})

import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import { declarationsOf, literalsOf } from '../scripts/docs-reference/declarations.ts'
import type { Declaration } from '../scripts/docs-reference/declarations.ts'

const declarations: readonly Declaration[] = globSync('src/entries/*.ts').flatMap(declarationsOf)

/** Forms of other packages' objects, as far as they are used here: OpenTelemetry and the AI SDK document them. */
const FOREIGN = new Set([
  'EndedSpan',
  'LoggerLike',
  'LoggerProviderLike',
  'LogRecordProcessorLike',
  'OpenSpan',
  'SdkSpanLike',
  'SpanProcessorLike',
  'TextModel',
])

const of = (kind: Declaration['kind']) => declarations.filter((each) => each.kind === kind)

describe('the docs of what the package exports', () => {
  it('has a sentence for every export', () => {
    expect(declarations.length).toBeGreaterThan(250)
    expect(declarations.filter(({ comment }) => comment.summary === '').map(({ name }) => name)).toEqual([])
  })

  it('has a sentence, or a default that explains it, for every property and method', () => {
    const interfaces = of('interface').filter(({ name }) => !FOREIGN.has(name))
    const properties = interfaces.flatMap(({ name, members = [] }) =>
      members.map((member) => ({ ...member, name: `${name}.${member.name}` })),
    )
    const bare = properties.filter(({ comment }) => comment.summary === '' && comment.default === undefined)
    expect(properties.length).toBeGreaterThan(500)
    expect(bare.map(({ name }) => name)).toEqual([])
  })

  it('has a sentence for every member of a union of words, or names it in the docs of the union', () => {
    const members = of('type').flatMap(({ file, name, comment }) =>
      literalsOf(file, name).map((member) => ({
        ...member,
        name: `${name} ${member.literal}`,
        ofUnion: comment.summary,
      })),
    )
    const bare = members.filter(
      ({ literal, comment, ofUnion }) => comment.summary === '' && !ofUnion.includes(`\`${literal}\``),
    )
    expect(members.length).toBeGreaterThan(50)
    expect(bare.map(({ name }) => name)).toEqual([])
  })
})

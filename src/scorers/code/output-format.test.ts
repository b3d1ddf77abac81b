import { describe, expect, it } from 'vitest'

import { saying } from '../../../test/fixtures/code-runs.ts'
import { createOutputFormatScorer } from './output-format.ts'

describe('output format', () => {
  const total = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] }

  it.each([
    ['{"total":1}', 1],
    ['{"total":"1"}', 0],
    ['```json\n{"total":1}\n```', 0],
    ['total: 1', 0],
  ])('holds %j against a schema: %d', (answer, value) => {
    expect(saying(createOutputFormatScorer({ schema: total }), answer)).toMatchObject({ value })
  })

  it('accepts a code fence around JSON if configured', () => {
    expect(
      saying(createOutputFormatScorer({ json: true, allowFence: true }), '```json\n{"total":1}\n```'),
    ).toMatchObject({ value: 1 })
  })

  it('gives the share of checks that pass, and names the others', () => {
    const scorer = createOutputFormatScorer({
      pattern: [/^- /m, /\d/g],
      forbidden: /sorry/i,
      minLength: 3,
      maxLength: 5,
    })
    expect(saying(scorer, '- 😀 1')).toMatchObject({ value: 1 })
    expect(saying(scorer, '- 😀 1')).toMatchObject({ value: 1 })
    expect(saying(scorer, 'Sorry, 1')).toMatchObject({
      value: 0.4,
      explanation:
        'The answer does not match /^- /m, matches /sorry/i, which is forbidden, has 8 characters, should have at most 5.',
    })
  })

  it('refuses to be made without checks', () => {
    expect(() => createOutputFormatScorer({})).toThrow(/at least one of json/)
  })
})

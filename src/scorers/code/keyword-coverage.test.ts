import { describe, expect, it } from 'vitest'

import { saying } from '../../../test/fixtures/code-runs.ts'
import { createKeywordCoverageScorer } from './keyword-coverage.ts'

describe('keyword coverage', () => {
  it.each<[string, readonly (string | readonly string[])[], string, number]>([
    ['words', ['refund', 'days'], 'A refund takes 14 days.', 1],
    ['alternatives', [['14 days', 'two weeks']], 'It takes two  weeks.', 1],
    ['whole words', ['cat'], 'The catalogue', 0],
    ['whole words beside other scripts', ['Node'], 'Nodeは速い', 1],
    ['scripts without blanks', ['天気'], '今日の天気は晴れです', 1],
    ['other widths', ['API 2'], 'ＡＰＩ ２', 1],
    ['other cases', ['STRASSE'], 'strasse', 1],
    ['accents', ['über'], 'u\u0308ber', 1],
    ['some', ['a', 'b'], 'only a', 0.5],
    ['signs', ['c++'], 'C++ and C', 1],
  ])('finds %s', (_what, keywords, answer, value) => {
    expect(saying(createKeywordCoverageScorer({ keywords }), answer)).toMatchObject({ value })
  })

  it('distinguishes case and parts of words if configured', () => {
    expect(saying(createKeywordCoverageScorer({ keywords: ['Cat'], caseSensitive: true }), 'cat')).toMatchObject({
      value: 0,
    })
    expect(saying(createKeywordCoverageScorer({ keywords: ['cat'], wholeWords: false }), 'catalogue')).toMatchObject({
      value: 1,
    })
  })

  it('finds a word behind others that contain it', () => {
    for (const answer of ['catcat catalogue tomcat cat', 'catécat-cat', '猫catalogue猫cat猫']) {
      expect(saying(createKeywordCoverageScorer({ keywords: ['cat'] }), answer)).toMatchObject({ value: 1 })
    }
    expect(saying(createKeywordCoverageScorer({ keywords: ['cat'] }), 'catcat ecat catalogue')).toMatchObject({
      value: 0,
    })
  })

  it('reads a word of a million letters', () => {
    const scorer = createKeywordCoverageScorer({ keywords: ['a', 'aa', 'aaa', 'aaaa', 'aaaaa'] })
    expect(saying(scorer, 'a'.repeat(999_999))).toMatchObject({ value: 0 })
  })

  it('is skipped without keywords, and refuses blank ones', () => {
    expect(saying(createKeywordCoverageScorer({ keywords: () => undefined }), 'x')).toMatchObject({ status: 'skipped' })
    expect(() => createKeywordCoverageScorer({ keywords: [' '] })).toThrow(/expected keywords/)
  })
})

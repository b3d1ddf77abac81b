import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Inquiry } from './inquiry.ts'
import { countAnswers, splitInquiry } from './split-inquiry.ts'

const idsOf = ({ questions }: Inquiry) => questions.flatMap(({ ids }) => ids)

const inquiryOf = (sizes: readonly number[]): Inquiry => ({
  role: '',
  sections: [{ title: 'all', fragments: [{ text: 'shared' }, { text: 'about q0_0', about: 'q0_0' }] }],
  questions: sizes.map((size, question) => ({
    ids: Array.from({ length: size }, (_, index) => `q${question}_${index}`),
    text: `Question ${question}?`,
    verdicts: ['yes', 'no'],
  })),
  lists: [{ name: 'claims', prefix: 'c', instruction: '', max: 3, from: 'all' }],
  notes: [{ name: 'note', instruction: '' }],
})

describe('splitInquiry', () => {
  it('asks about every id once, in order, in the fewest parts, and for lists and notes in the first part', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 50 }), (given, perPart) => {
        const inquiry = inquiryOf(given)
        const parts = splitInquiry(inquiry, perPart)
        expect(parts.flatMap(idsOf)).toEqual(idsOf(inquiry))
        expect(parts).toHaveLength(Math.ceil(countAnswers(inquiry) / perPart))
        expect(Math.max(...parts.map(countAnswers))).toBeLessThanOrEqual(perPart)
        expect(parts.map(({ lists, notes }) => [lists?.length, notes?.length])).toEqual(
          parts.map((_, index) => (index === 0 ? [1, 1] : [undefined, undefined])),
        )
      }),
    )
  })

  it('shows details of an id only in the part that asks about it, and says that others are left out', () => {
    const [first, second] = splitInquiry(inquiryOf([4]), 2)
    expect(first?.sections).toEqual(inquiryOf([4]).sections)
    expect(second?.sections).toEqual([
      { title: expect.stringContaining('details of those that are not asked about'), fragments: [{ text: 'shared' }] },
    ])
  })
})

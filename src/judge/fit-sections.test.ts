import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { bytesOf, fitSections } from './fit-sections.ts'
import type { SectionDraft } from './fit-sections.ts'

const text = fc.string({ unit: 'binary', maxLength: 400 })
const drafts = fc.array(
  fc.record({
    title: fc.constant('part'),
    fragments: fc.array(fc.record({ text, cuttable: fc.boolean() }), { minLength: 1, maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 6 },
)
const size = (sections: readonly { text: string }[]) =>
  sections.reduce((sum, one) => sum + Buffer.byteLength(one.text), 0)
const long = (cuttable: boolean, length = 1000): SectionDraft => ({
  title: 'long',
  fragments: [{ text: 'x'.repeat(length), cuttable }],
})

const shown = (maxBytes: number) =>
  fitSections([long(true, 5000), long(true, 3000)], maxBytes).map((section) => section.text.length)

describe('fitSections', () => {
  it('never goes over the budget, is the same each time, and is well-formed', () => {
    fc.assert(
      fc.property(drafts, fc.integer({ min: 0, max: 3000 }), (given, maxBytes) => {
        const fitted = fitSections(given, maxBytes)
        expect(size(fitted)).toBeLessThanOrEqual(maxBytes)
        expect(fitted).toEqual(fitSections(given, maxBytes))
        for (const section of fitted)
          expect([section.text.isWellFormed(), section.text.includes('\ufffd')]).toEqual([true, false])
      }),
    )
  })

  it('keeps all of it where it fits', () => {
    const given = [long(true), long(false)]
    expect(fitSections(given, 2000).map((section) => section.text.length)).toEqual([1000, 1000])
    expect(bytesOf(given)).toBe(2000)
  })

  it('cuts what may be cut and leaves the rest whole, the longest first, and says how much is gone', () => {
    const [payload, task, short] = fitSections([long(true), long(false), long(true, 50)], 1300)
    expect(task?.text).toHaveLength(1000)
    expect(short?.text).toHaveLength(50)
    expect(payload?.text).toMatch(/^x+\[… \d+ bytes cut …\]x+$/)
    const cut = Number(/\d+/.exec(payload?.text ?? '')?.[0])
    expect(payload?.text.replace(/\[.*\]/, '').length).toBe(1000 - cut)
  })

  it('shows more of a text when there is more room', () => {
    for (let room = 300; room < 7000; room += 200) {
      const [less, more] = [shown(room), shown(room + 200)]
      expect(less.every((length, index) => length <= (more[index] ?? 0) + 2)).toBe(true)
    }
  })

  it('cuts whole sections where even what should stay whole does not fit', () => {
    const [task, answer] = fitSections([long(false, 9000), long(false, 100)], 1000)
    expect(answer?.text).toHaveLength(100)
    expect(task?.text).toContain('bytes cut')
  })

  it('takes out what is not seen', () => {
    const [section] = fitSections(
      [{ title: '', fragments: [{ text: 'a\u202eb\u200bc\u0007d\u{e0041}e\r\nf\tg\u200dh' }] }],
      2000,
    )
    expect(section?.text).toBe('abcde\nf\tg\u200dh')
  })
})

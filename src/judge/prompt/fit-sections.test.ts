import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { fitSections } from './fit-sections.ts'
import { bytesOf } from './section.ts'
import type { Fragment, SectionDraft } from './section.ts'

const text = fc.string({ unit: 'binary', maxLength: 400 })
const fragment = fc
  .tuple(text, fc.constantFrom('result', 'judged', undefined))
  .map(([content, cut]): Fragment => ({ text: content, ...(cut && { cut }) }))
const drafts = fc.array(
  fc.record({ title: fc.constant('part'), fragments: fc.array(fragment, { minLength: 1, maxLength: 6 }) }),
  { minLength: 1, maxLength: 6 },
)
const size = (sections: readonly { text: string }[]) =>
  sections.reduce((sum, one) => sum + Buffer.byteLength(one.text), 0)
const long = (cut?: Fragment['cut'], length = 1000): SectionDraft => ({
  title: 'long',
  fragments: [{ text: 'x'.repeat(length), ...(cut && { cut }) }],
})
const shown = (given: readonly SectionDraft[], maxBytes: number) =>
  fitSections(given, maxBytes, 'feedbeef')?.sections.map((section) => section.text)
const lengths = (given: readonly SectionDraft[], maxBytes: number) =>
  shown(given, maxBytes)?.map((section) => Buffer.byteLength(section))

describe('fitSections', () => {
  it('never exceeds the budget, states what it left out, is deterministic and well-formed', () => {
    fc.assert(
      fc.property(drafts, fc.integer({ min: 0, max: 6000 }), (given, maxBytes) => {
        const fitted = fitSections(given, maxBytes, 'feedbeef')
        expect(fitted).toEqual(fitSections(given, maxBytes, 'feedbeef'))
        if (fitted === undefined) return
        expect(size(fitted.sections)).toBeLessThanOrEqual(maxBytes)
        expect(fitted.cutBytes).toBeGreaterThanOrEqual(0)
        for (const section of fitted.sections)
          expect([section.text.isWellFormed(), section.text.includes('\ufffd')]).toEqual([true, false])
      }),
    )
  })

  it('counts the note about invisible characters that were cut before', () => {
    const given = [{ title: '', fragments: [{ text: '\0'.repeat(10_000), cut: 'result' } as const] }]
    expect(shown(given, 100)?.[0]).toMatch(/^\[feedbeef: \d+ bytes cut]$/)
    expect(shown([...given, long('judged', 290)], 300)?.join('').length).toBeLessThanOrEqual(300)
    expect(shown(given, 0)).toBeUndefined()
  })

  it('never cuts what must be shown', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), fc.integer({ min: 0, max: 3000 }), (payloads, maxBytes) => {
        const fragments = payloads.flatMap((payload, index): Fragment[] => [
          { text: `call_${index + 1}\n` },
          { text: payload, cut: 'result' },
        ])
        const sections = shown([{ title: '', fragments }], maxBytes) ?? []
        const isLost = (name: string) => sections.some((section) => !section.includes(name))
        expect(payloads.filter((_, index) => isLost(`call_${index + 1}\n`))).toEqual([])
      }),
    )
  })

  it('keeps everything if it fits', () => {
    const given = [long('result'), long()]
    expect(lengths(given, 2000)).toEqual([1000, 1000])
    expect(fitSections(given, 2000, 'feedbeef')?.cutBytes).toBe(0)
    expect(bytesOf(given)).toBe(2000)
  })

  it('cuts payloads, the longest first, leaves the rest whole, and states how much is missing', () => {
    const [payload, task, short] = shown([long('result'), long('judged'), long('result', 50)], 1300) ?? []
    expect(task).toHaveLength(1000)
    expect(short).toHaveLength(50)
    expect(payload).toMatch(/^x+\[feedbeef: \d+ bytes cut\]x+$/)
    const cut = Number(/\d+/.exec(payload ?? '')?.[0])
    expect(payload?.replace(/\[.*\]/, '').length).toBe(1000 - cut)
  })

  it('shows more of a text when there is more room', () => {
    const given = [long('result', 5000), long('result', 3000)]
    for (let room = 300; room < 7000; room += 200) {
      const [less, more] = [lengths(given, room), lengths(given, room + 200)]
      expect(less?.every((length, index) => length <= (more?.[index] ?? 0) + 2)).toBe(true)
    }
  })

  it('cuts request and answer, the longest first, once payloads are reduced to a mark', () => {
    const [task, answer, payload] = shown([long('judged', 9000), long('judged', 100), long('result')], 1000) ?? []
    expect(answer).toHaveLength(100)
    expect(task).toContain('bytes cut')
    expect(payload).toBe('…feedbeef')
  })

  it('returns nothing if required parts do not fit, or too little of the judged text would be left', () => {
    expect(shown([long()], 999)).toBeUndefined()
    expect(shown([long(undefined, 800), long('judged')], 1000)).toBeUndefined()
    expect(shown([long(undefined, 700), long('judged')], 1000)).toHaveLength(2)
  })

  it('removes invisible characters', () => {
    const hidden = 'a\u202eb\u200bc\u0007d\u{e0041}e\r\nf\tg\u200dh'
    expect(shown([{ title: '', fragments: [{ text: hidden }] }], 2000)).toEqual(['abcde\nf\tgh'])
  })
})

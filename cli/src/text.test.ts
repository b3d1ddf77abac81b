import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { columnsOf, cutLine, hanging, safeJson, safeLine, safeText, wrap } from './text.ts'

describe('text for a terminal', () => {
  it('breaks lines at spaces, words if it must, and keeps line breaks', () => {
    expect(wrap('one two three', 8, 9)).toEqual(['one two', 'three'])
    expect(wrap('abcdefghij', 4, 9)).toEqual(['abcd', 'efgh', 'ij'])
    expect(wrap('a\n\nb', 8, 9)).toEqual(['a', '', 'b'])
  })

  it('hangs lines below the text behind a sign, and writes one line where there is no terminal', () => {
    expect(hanging('✗ ', 'one two three four five six', 22)).toBe('✗ one two three four\n  five six')
    expect(hanging('✗ ', 'one two three four five six', undefined)).toBe('✗ one two three four five six')
  })

  it('counts wide characters twice, and combining marks not at all', () => {
    expect(columnsOf('日本')).toBe(4)
    expect(columnsOf('🎉')).toBe(2)
    expect(columnsOf('e\u0301')).toBe(1)
    expect(wrap('日本日本', 4, 9)).toEqual(['日本', '日本'])
  })

  it('says how much it leaves out', () => {
    expect(wrap('x '.repeat(5000), 20, 3).at(-1)).toMatch(/^… [\d,]+ more characters$/)
    expect(cutLine('a sentence that is too long', 12)).toBe('a sentence…')
  })

  it('never exceeds its width, and lets no control character through', () => {
    // oxlint-disable-next-line no-control-regex -- the test asserts that they are absent
    const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/
    const texts = fc.string({ unit: 'binary', maxLength: 300 })
    expect(() =>
      fc.assert(
        fc.property(texts, fc.integer({ min: 20, max: 80 }), (text, width) => {
          const lines = wrap(text, width, 5)
          return (
            lines.length <= 5 &&
            lines.every((line) => columnsOf(line) <= width + 10 && !controls.test(line)) &&
            columnsOf(cutLine(text, width)) <= width &&
            !controls.test(safeText(text))
          )
        }),
      ),
    ).not.toThrow()
  })

  it('puts text on one line, however many blanks it has', () => {
    expect(safeLine(' a \n\n  b\tc\r\n')).toBe('a b  c')
    const spaces = ' '.repeat(300_000)
    expect(safeLine(`a${spaces}b\n${spaces}\nc`)).toBe(`a${spaces}b c`)
  })

  it('changes the notation of JSON, never its value', () => {
    const value = { text: 'a\u009bb\u202ec\u007f' }
    expect(safeJson(JSON.stringify(value))).toBe(String.raw`{"text":"a\u009bb\u202ec\u007f"}`)
    expect(JSON.parse(safeJson(JSON.stringify(value)))).toEqual(value)
  })
})

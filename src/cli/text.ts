import { stripVTControlCharacters } from 'node:util'

/** What spans hold was written by strangers: escape sequences, controls and direction marks that move text are taken out. */
export function safeText(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\t', '  ').replaceAll(HOSTILE, '')
}

/** As `safeText`, on one line. */
export function safeLine(text: string): string {
  return safeText(text)
    .replaceAll(/\s*\n\s*/g, ' ')
    .trim()
}

/** JSON text that is safe to show: the controls that JSON leaves as they are become escapes, the value stays the same. */
export function safeJson(json: string): string {
  return json.replaceAll(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Text in lines of at most `width` columns, broken at spaces where there are any; line breaks stay. Beyond `maxLines` the
 * last line says how much is left out.
 */
export function wrap(text: string, width: number, maxLines: number): string[] {
  // More than could ever be shown is not looked at.
  const budget = width * (maxLines + 1) * 2
  const shown = safeText(text.length > budget ? text.slice(0, budget) : text)
  const lines: string[] = []
  for (const paragraph of shown.split(/\r?\n/)) {
    lines.push(...wrapParagraph(paragraph, width))
    if (lines.length > maxLines) break
  }
  if (lines.length <= maxLines && text.length <= budget) return lines
  const kept = lines.slice(0, maxLines - 1)
  const left = text.length - kept.reduce((sum, line) => sum + line.length + 1, 0)
  return [...kept, `… ${left.toLocaleString('en')} more characters`]
}

/** As much of a line as fits in `width` columns. */
export function cutLine(text: string, width: number): string {
  const line = safeLine(text.length > width * 4 ? text.slice(0, width * 4) : text)
  if (columnsOf(line) <= width) return line
  let columns = 0
  let kept = ''
  for (const character of line) {
    columns += columnsOfCharacter(character)
    if (columns > width - 1) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

/** Columns that a text takes in a terminal: wide characters two, marks that combine none. */
export function columnsOf(text: string): number {
  let columns = 0
  for (const character of text) columns += columnsOfCharacter(character)
  return columns
}

// oxlint-disable-next-line no-control-regex -- they are what is looked for
const HOSTILE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g
const WIDE =
  /^(?:[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Emoji_Presentation})/u
const COMBINING = /^\p{M}/u

function columnsOfCharacter(character: string): number {
  if (character < '\u0300') return 1
  if (COMBINING.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

function wrapParagraph(paragraph: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  let columns = 0
  let lastSpace = -1
  for (const character of paragraph) {
    const size = columnsOfCharacter(character)
    if (columns + size > width && line !== '') {
      const cut = lastSpace > 0 ? lastSpace : line.length
      lines.push(line.slice(0, cut).trimEnd())
      line = line.slice(cut).trimStart()
      columns = columnsOf(line)
      lastSpace = -1
    }
    if (character === ' ') lastSpace = line.length
    line += character
    columns += size
  }
  lines.push(line.trimEnd())
  return lines
}

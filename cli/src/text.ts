import cliTruncate from 'cli-truncate'
import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/**
 * Removes escape sequences, control characters and direction marks from text of spans, which is untrusted. A line that GitHub Actions would
 * obey (`::add-mask::…`, `##[…]`) gets a space.
 */
export function safeText(text: string): string {
  return withoutCommands(stripVTControlCharacters(text).replaceAll('\t', '  ').replaceAll(HOSTILE, ''))
}

/** GitHub Actions reads commands at the beginning of a line, and older ones anywhere in it. */
function withoutCommands(text: string): string {
  return text.replaceAll(/^([^\S\n]*):(?=:)/gm, '$1: ').replaceAll('##[', '## [')
}

/** Like `safeText`, on one line. Its time is linear in the text: names of agents come from files, and may be megabytes of spaces. */
export function safeLine(text: string): string {
  const line = safeText(text)
    .split('\n')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .join(' ')
  return withoutCommands(line)
}

/** JSON text that is safe to show. Control characters that JSON allows become escapes; the value stays the same. */
export function safeJson(json: string): string {
  return json
    .replaceAll(UNESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('##[', String.raw`##\u005b`)
}

/**
 * Wraps text to lines of at most `width` columns, at spaces if possible, and keeps its line breaks. If there are more than `maxLines`, the
 * last line says how much is left out.
 */
export function wrap(text: string, width: number, maxLines: number): string[] {
  // Text beyond what can be shown is not wrapped.
  const budget = width * (maxLines + 1) * 2
  const shown = safeText(text.length > budget ? text.slice(0, budget) : text)
  const lines = shown.split('\n').flatMap((line) =>
    wrapAnsi(line, width, { hard: true, trim: false })
      .split('\n')
      // The blank at which a line was broken.
      .map((part, index) => withoutCommands((index === 0 ? part : part.replace(/^ /, '')).trimEnd())),
  )
  if (lines.length <= maxLines && text.length <= budget) return lines
  const kept = lines.slice(0, maxLines - 1)
  const left = text.length - kept.reduce((sum, line) => sum + line.length + 1, 0)
  return [...kept, `… ${left.toLocaleString('en')} more characters`]
}

const MAX_HANGING_LINES = 100

/**
 * A text behind a sign or an indent of spaces, with further lines below the text.
 *
 * @param columns of the terminal; without it, as in a pipe, the text is one line, which programs can search
 */
export function hanging(sign: string, text: string, columns: number | undefined): string {
  if (columns === undefined) return `${sign}${safeLine(text)}`
  const indent = columnsOf(sign)
  return sign + wrap(safeLine(text), Math.max(20, columns - indent), MAX_HANGING_LINES).join(`\n${' '.repeat(indent)}`)
}

/** As much of a line as fits in `width` columns. */
export function cutLine(text: string, width: number): string {
  const line = safeLine(text.length > width * 4 ? text.slice(0, width * 4) : text)
  return cliTruncate(line, width).replace(/\s+…$/, '…')
}

/** The number of columns of a text in a terminal: wide characters take two, combining marks none. */
export function columnsOf(text: string): number {
  return stringWidth(text)
}

// oxlint-disable-next-line no-control-regex -- the pattern is about control characters
const HOSTILE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
const UNESCAPED = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

import { unicodePattern } from '../../model/unicode-pattern.ts'

/** Scripts whose letters join, or that use joiners. */
const joining =
  '[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Nkoo}\\p{scx=Mand}\\p{scx=Adlm}\\p{scx=Rohg}\\p{scx=Deva}\\p{scx=Beng}' +
  '\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}' +
  '\\p{scx=Mymr}\\p{scx=Tibt}\\p{scx=Bali}\\p{scx=Java}]'

/** Invisible characters that are needed to write a text: joiners in such scripts, and parts of emoji. */
const needed = [
  `(?<=${joining})[\\u200C\\u200D](?=${joining})`,
  '(?<=\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?)\\u200D(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic})[\\uFE0E\\uFE0F]',
  '(?<=[0-9#*])\\uFE0F(?=\\u20E3)',
].join('|')

/**
 * Invisible characters that change how a text reads, by Unicode property: controls except line feed and tab, default ignorables
 * (bidirectional marks, zero-width spaces, fillers, variation selectors, and tag characters, which can hide whole sentences), line and
 * paragraph separators, interlinear annotation, and the blank Braille pattern.
 */
const invisible = unicodePattern(
  // The flag v would be a syntax error in old versions of Node.js, which must load the package to be reported.
  `(?![\\n\\t])[\\p{Cc}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\uFFF9-\\uFFFB\\u2800](?<!${needed})`,
  'gu',
)

/** Cleans untrusted text for a judge: well-formed Unicode, one kind of line end, no invisible characters. */
export function cleanText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(invisible(), '').toWellFormed()
}

// oxlint-disable-next-line no-control-regex -- matches the escape character
const ansi = /\u001B(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-_])/g

/**
 * Cleans a provider's message for a log line or a span attribute: one line, no terminal colours, no API keys, at most 300 characters.
 */
export function cleanMessage(message: string): string {
  const line = cleanText(message.slice(0, 10_000).replaceAll(ansi, ''))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\b(sk|pk|rk|key|vck)[-_][A-Za-z0-9_*-]{6,}/g, '$1-…')
    .replaceAll(/\bBearer\s+\S+/gi, 'Bearer …')
    .trim()
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`
}

/** Scripts whose letters join, or that need joiners to be written. */
const joining =
  '[\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Nkoo}\\p{scx=Mand}\\p{scx=Adlm}\\p{scx=Rohg}\\p{scx=Deva}\\p{scx=Beng}' +
  '\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}' +
  '\\p{scx=Mymr}\\p{scx=Tibt}\\p{scx=Bali}\\p{scx=Java}]'

/** Invisible characters that are part of how a text is written: joiners inside such scripts, and what makes up an emoji. */
const needed = [
  `(?<=${joining})[\\u200C\\u200D](?=${joining})`,
  '(?<=\\p{Extended_Pictographic}[\\uFE0F\\p{Emoji_Modifier}]?)\\u200D(?=\\p{Extended_Pictographic})',
  '(?<=\\p{Extended_Pictographic})[\\uFE0E\\uFE0F]',
  '(?<=[0-9#*])\\uFE0F(?=\\u20E3)',
].join('|')

/**
 * Characters that change how text reads without showing themselves, by property: controls but for line feed and tab, all that
 * Unicode calls ignorable (bidirectional marks, zero-width spaces, fillers, variation selectors, and the tag characters in which
 * whole sentences can be hidden), line and paragraph separators, interlinear annotation, and the blank Braille pattern.
 */
const invisible = new RegExp(
  `[[\\p{Cc}--[\\n\\t]]\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\uFFF9-\\uFFFB\\u2800](?<!${needed})`,
  'gv',
)

/** Untrusted text as a judge may see it: well-formed Unicode, one kind of line end, nothing invisible. */
export function cleanText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(invisible, '').toWellFormed()
}

// oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
const ansi = /\u001B(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-_])/g

/**
 * A provider's message as a log line or a span attribute may hold it: one line, without terminal colours, without API keys, at
 * most 300 characters.
 */
export function cleanMessage(message: string): string {
  const line = cleanText(message.slice(0, 10_000).replaceAll(ansi, ''))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\b(sk|pk|rk|key|vck)[-_][A-Za-z0-9_*-]{6,}/g, '$1-…')
    .replaceAll(/\bBearer\s+\S+/gi, 'Bearer …')
    .trim()
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`
}

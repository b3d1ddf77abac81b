/**
 * Characters that change how text reads without showing themselves: controls but for line feed and tab, bidirectional marks,
 * overrides and isolates, zero-width spaces, and the tag characters in which whole sentences can be hidden. The joiners
 * (U+200C, U+200D) stay: emoji and many scripts need them.
 */
const invisible =
  /[[\p{Cc}--[\n\t]]\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E007F}]/gv

/** Untrusted text as a judge may see it: well-formed Unicode, one kind of line end, nothing invisible. */
export function cleanText(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(invisible, '').toWellFormed()
}

// oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
const ansi = /\u001B(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-_])/g

/**
 * A provider's message as it may stand in a log line or a span attribute: one line, without terminal colours, without API
 * keys, at most 300 characters.
 */
export function cleanMessage(message: string): string {
  const line = cleanText(message.slice(0, 10_000).replaceAll(ansi, ''))
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\b(sk|pk|rk|key|vck)[-_][A-Za-z0-9_*-]{6,}/g, '$1-…')
    .replaceAll(/\bBearer\s+\S+/gi, 'Bearer …')
    .trim()
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`
}

/** With less room than this, a text breaks off: to say how much is missing would leave nothing to be shown. */
const SMALLEST_WITH_TAIL = 64

/** UTF-8 bytes that are left at least of a text that is cut: the mark at which it breaks off. */
export const LEAST_BYTES: number = Buffer.byteLength(breakMark('12345678'))

/**
 * Cuts a text to that many UTF-8 bytes: two thirds of what fits from the head, one third from the tail, and how much is missing
 * between; in little room, the head alone. No character is split.
 *
 * @param tag what is in the mark of a cut, so that the text itself cannot forge one; eight characters
 * @param cutBytes UTF-8 bytes that were cut out of its middle before: they are counted in the mark, and a text without them has one
 */
export function cutText(text: string, maxBytes: number, tag: string, cutBytes = 0): string {
  // No character takes less than a byte in UTF-8 for each of its code units, and none more than three.
  if (cutBytes === 0 && text.length * 3 <= maxBytes) return text
  const data = Buffer.from(text)
  if (cutBytes === 0 && data.length <= maxBytes) return text
  if (maxBytes < LEAST_BYTES) return ''
  if (maxBytes < SMALLEST_WITH_TAIL) {
    return data.toString('utf8', 0, characterStart(data, maxBytes - LEAST_BYTES)) + breakMark(tag)
  }
  const room = Math.min(data.length, maxBytes - Buffer.byteLength(cutMark(cutBytes + data.length, tag)))
  const headEnd = characterStart(data, Math.ceil((room * 2) / 3))
  const tailStart = nextCharacterStart(data, data.length - Math.floor(room / 3))
  return (
    data.toString('utf8', 0, headEnd) +
    cutMark(cutBytes + Math.max(0, tailStart - headEnd), tag) +
    data.toString('utf8', Math.max(headEnd, tailStart))
  )
}

/** What is shown where something was cut out. */
function cutMark(cutBytes: number, tag: string): string {
  return `[${tag}: ${cutBytes} bytes cut]`
}

/** What is shown where a text breaks off. */
function breakMark(tag: string): string {
  return `…${tag}`
}

/** The start of the character that holds the byte. */
function characterStart(data: Buffer, index: number): number {
  let start = index
  while (start > 0 && isContinuation(data[start])) start--
  return start
}

function nextCharacterStart(data: Buffer, index: number): number {
  let start = index
  while (start < data.length && isContinuation(data[start])) start++
  return start
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

/** With less room than this, a text breaks off: to say how much is missing would leave nothing to be shown. */
const SMALLEST_WITH_TAIL = 64
const ELLIPSIS = '…'

/** UTF-8 bytes that are left at least of a text that is cut. */
export const ELLIPSIS_BYTES: number = Buffer.byteLength(ELLIPSIS)

/**
 * Cuts a text to that many UTF-8 bytes: two thirds of what fits from the head, one third from the tail, and how much is missing
 * between; in little room, the head alone. No character is split.
 */
export function cutText(text: string, maxBytes: number): string {
  // No character takes less than a byte in UTF-8 for each of its code units, and none more than three.
  if (text.length * 3 <= maxBytes) return text
  const data = Buffer.from(text)
  if (data.length <= maxBytes) return text
  if (maxBytes < ELLIPSIS_BYTES) return ''
  if (maxBytes < SMALLEST_WITH_TAIL) {
    return data.toString('utf8', 0, characterStart(data, maxBytes - ELLIPSIS_BYTES)) + ELLIPSIS
  }
  const room = maxBytes - Buffer.byteLength(markOf(data.length))
  const headEnd = characterStart(data, Math.ceil((room * 2) / 3))
  const tailStart = nextCharacterStart(data, data.length - Math.floor(room / 3))
  return data.toString('utf8', 0, headEnd) + markOf(tailStart - headEnd) + data.toString('utf8', tailStart)
}

/** What stands where something was cut. */
function markOf(cutBytes: number): string {
  return `[… ${cutBytes} bytes cut …]`
}

/** The start of the character in which the byte stands. */
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

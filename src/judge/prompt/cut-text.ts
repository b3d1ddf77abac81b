/** Below this many bytes, a text just breaks off: a note about the cut would leave no room for the text. */
const SMALLEST_WITH_TAIL = 64

/** UTF-8 bytes of the shortest cut text: the mark at which it breaks off. */
export const LEAST_BYTES: number = Buffer.byteLength(breakMark('0123456789ab'))

/**
 * Cuts a text to that many UTF-8 bytes: two thirds from the head, one third from the tail, and a note of the cut between them. If there is
 * little room, it keeps the head alone. It never splits a character.
 *
 * @param mark the mark of the call, so that the text itself cannot forge a note about a cut
 * @param cutBytes UTF-8 bytes that were cut out of its middle before; the note counts them, and is shown even if nothing more is cut
 */
export function cutText(text: string, maxBytes: number, mark: string, cutBytes = 0): string {
  // Each UTF-16 code unit takes one to three bytes in UTF-8.
  if (cutBytes === 0 && text.length * 3 <= maxBytes) return text
  const data = Buffer.from(text)
  if (cutBytes === 0 && data.length <= maxBytes) return text
  if (maxBytes < LEAST_BYTES) return ''
  if (maxBytes < SMALLEST_WITH_TAIL) {
    return data.toString('utf8', 0, characterStart(data, maxBytes - LEAST_BYTES)) + breakMark(mark)
  }
  const room = Math.min(data.length, maxBytes - Buffer.byteLength(cutMark(cutBytes + data.length, mark)))
  const headEnd = characterStart(data, Math.ceil((room * 2) / 3))
  const tailStart = nextCharacterStart(data, data.length - Math.floor(room / 3))
  return (
    data.toString('utf8', 0, headEnd) +
    cutMark(cutBytes + Math.max(0, tailStart - headEnd), mark) +
    data.toString('utf8', Math.max(headEnd, tailStart))
  )
}

/** UTF-8 bytes of the note about what was cut out of a text before. */
export function noteBytes(cutBytes: number, mark: string): number {
  return cutBytes === 0 ? 0 : Buffer.byteLength(cutMark(cutBytes, mark))
}

/** The note about a cut. */
function cutMark(cutBytes: number, mark: string): string {
  return `[${mark}: ${cutBytes} bytes cut]`
}

/** The note where a text breaks off. */
function breakMark(mark: string): string {
  return `…${mark}`
}

/** Keeps at most that many characters: two thirds from the head and one third from the tail, as `cutText` does. */
export function cutMiddle(
  { text, cutBytes = 0 }: { readonly text: string; readonly cutBytes?: number },
  mostCharacters: number,
): { readonly text: string; readonly cutBytes: number } {
  if (text.length <= mostCharacters) return { text, cutBytes }
  const head = text.slice(0, Math.ceil((mostCharacters * 2) / 3)).toWellFormed()
  const tail = text.slice(text.length - Math.floor(mostCharacters / 3)).toWellFormed()
  const kept = head + tail
  return { text: kept, cutBytes: cutBytes + Buffer.byteLength(text) - Buffer.byteLength(kept) }
}

/** The first byte of the character that contains the byte at `index`. */
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

import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SourceLog } from '../../spans/source-span.ts'

/** Objects (SDK 3.x keeps them in attributes) are counted to this depth; deeper ones are bounded by their JSON's own size. */
const MAX_DEPTH = 6

/** What a span without content takes in memory: the SDK's object, its ids, times, context and attribute table, and our record. */
export const HELD_BYTES_OF_SPAN = 2048

/** What one more attribute, event, item or log record takes beside its text. */
const HELD_BYTES_OF_ENTRY = 64

/** An SDK keeps so many attributes and events of a span, unless the application raises its limits. */
const USUAL_ENTRIES = 256
/** Reading one more attribute or event takes as long as reading so many bytes of content. */
const BYTES_OF_MORE_ENTRIES = 512

/**
 * Bytes of text in a span's name, status, attributes and events, estimated: one for each character of every string, eight for
 * all else; and what it holds in memory with them.
 */
export function bytesOfSpan(span: SdkSpanLike): { readonly contentBytes: number; readonly heldBytes: number } {
  let [contentBytes, entries] = [0, 0]
  try {
    const { attributes, events, status } = span
    contentBytes = span.name.length + (status.message?.length ?? 0)
    entries = events.length * 2
    // Own keys and inherited ones alike: attributes are plain objects, and `in` order costs no array.
    // oxlint-disable-next-line eslint/guard-for-in
    for (const key in attributes) {
      const value = attributes[key]
      entries += 1
      contentBytes += typeof value === 'string' ? value.length : bytesOf(value, 1)
    }
    for (const event of events) contentBytes += event.name.length + bytesOf(event.attributes)
  } catch {
    // A value that cannot be read ends the count: a run must not stay open for want of a number.
  }
  if (entries > USUAL_ENTRIES) contentBytes += (entries - USUAL_ENTRIES) * BYTES_OF_MORE_ENTRIES
  return { contentBytes, heldBytes: HELD_BYTES_OF_SPAN + contentBytes + entries * HELD_BYTES_OF_ENTRY }
}

/** Reading the message of a log record takes as long as reading so many bytes of content, whatever it holds. */
const BYTES_OF_LOG = 256
/** Log records of one span that are usual: further ones count more, because the span is read in one turn of the event loop. */
const USUAL_LOGS = 5000
const BYTES_OF_MORE_LOGS = 2048

/**
 * The same of a log record.
 *
 * @param count How many log records its span has, with this one.
 */
export function bytesOfLog(
  { attributes, body }: SourceLog,
  count: number,
): { readonly contentBytes: number; readonly heldBytes: number } {
  const held = bytesOf(attributes) + bytesOf(body)
  const contentBytes = held + BYTES_OF_LOG + (count > USUAL_LOGS ? BYTES_OF_MORE_LOGS : 0)
  return { contentBytes, heldBytes: held + 8 * HELD_BYTES_OF_ENTRY }
}

function bytesOf(value: unknown, depth = 0): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return 8
  if (value instanceof Uint8Array) return value.byteLength
  let bytes = 0
  if (Array.isArray(value)) {
    for (const item of value) bytes += bytesOf(item, depth + 1)
    return bytes
  }
  for (const item of Object.values(value)) bytes += bytesOf(item, depth + 1)
  return bytes
}

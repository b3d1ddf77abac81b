import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SourceLog } from '../../spans/source-span.ts'

/** Objects in attributes (SDK 3.x allows them) are counted to this depth. The size of their JSON bounds deeper ones. */
const MAX_DEPTH = 6

/** Values of one attribute or log record that are counted. Counting more would take a turn of the event loop. */
const MOST_VALUES = 50_000

/** What the values above that number count for together: too much for the run to be read. */
const BYTES_OF_UNCOUNTED = 32 * 1024 * 1024

/** Memory for a span without content: the SDK's object, its ids, times, context and attributes, and our record. */
export const HELD_BYTES_OF_SPAN = 2048

/** Memory for each further attribute, event, item or log record, besides its text. */
const HELD_BYTES_OF_ENTRY = 64

/** The SDK's default limit for a span's attributes and events. */
const USUAL_ENTRIES = 256
/** Reading one attribute or event above that limit takes as long as reading this many bytes of content. */
const BYTES_OF_MORE_ENTRIES = 512

/**
 * Estimates the bytes of text in a span's name, status, attributes and events: one for each character of a string, eight for any other
 * value. Also estimates the memory that they take.
 */
export function bytesOfSpan(span: SdkSpanLike): { readonly contentBytes: number; readonly heldBytes: number } {
  let [contentBytes, entries] = [0, 0]
  try {
    const { attributes, events, status } = span
    contentBytes = span.name.length + (status.message?.length ?? 0)
    entries = events.length * 2
    // Attributes are plain objects, and `for in` needs no array of keys.
    // oxlint-disable-next-line eslint/guard-for-in
    for (const key in attributes) {
      const value = attributes[key]
      entries += 1
      contentBytes += typeof value === 'string' ? value.length : bytesOf(value, 1)
    }
    for (const event of events) contentBytes += event.name.length + bytesOf(event.attributes)
  } catch {
    // A value that cannot be read ends the count; the run must still be closed.
  }
  if (entries > USUAL_ENTRIES) contentBytes += (entries - USUAL_ENTRIES) * BYTES_OF_MORE_ENTRIES
  return { contentBytes, heldBytes: HELD_BYTES_OF_SPAN + contentBytes + entries * HELD_BYTES_OF_ENTRY }
}

/** Reading the message of a log record takes as long as reading this many bytes of content, whatever its size. */
const BYTES_OF_LOG = 256
/** Above this number, each log record of a span counts more, because a span is read in one turn of the event loop. */
const USUAL_LOGS = 5000
const BYTES_OF_MORE_LOGS = 2048

/**
 * Estimates the bytes of a log record.
 *
 * @param count the number of log records of its span, including this one
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
  if (typeof value !== 'object' || value === null) return 8
  const counted = { bytes: 0, values: 0 }
  countValues(value, depth, counted)
  return counted.values < MOST_VALUES ? counted.bytes : counted.bytes + BYTES_OF_UNCOUNTED
}

function countValues(value: unknown, depth: number, counted: { bytes: number; values: number }): void {
  counted.values += 1
  if (typeof value === 'string') counted.bytes += value.length
  else if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) counted.bytes += 8
  else if (value instanceof Uint8Array) counted.bytes += value.byteLength
  else if (Array.isArray(value)) {
    // An array may be longer than what it holds.
    for (let index = 0; index < value.length && counted.values < MOST_VALUES; index += 1) {
      countValues(value[index], depth + 1, counted)
    }
  } else {
    for (const key in value) {
      if (counted.values >= MOST_VALUES) return
      if (Object.hasOwn(value, key)) countValues(Reflect.get(value, key), depth + 1, counted)
    }
  }
}

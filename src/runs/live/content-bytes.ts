import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { MAX_COPY_DEPTH } from '../../spans/json.ts'
import type { SourceLog } from '../../spans/source-span.ts'

/** Objects in attributes (SDK 3.x allows them) are counted to the depth to which they are copied. */
const MAX_DEPTH: number = MAX_COPY_DEPTH

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

/** Estimates of what a span or log record takes. */
interface Size {
  readonly contentBytes: number
  readonly heldBytes: number
  /** Whether it has more content or values than are read. */
  readonly isTooRich: boolean
}

/**
 * Estimates the bytes of text in a span's name, status, attributes and events: one for each character of a string, eight for any other
 * value. Also estimates the memory that they take.
 */
export function bytesOfSpan(span: SdkSpanLike): Size {
  let [contentBytes, entries] = [0, 0]
  try {
    const { attributes, events, status } = span
    contentBytes = span.name.length + (status.message?.length ?? 0)
    entries = events.length * 2
    // Attributes are plain objects, and `for in` needs no array of keys.
    // oxlint-disable-next-line eslint/guard-for-in
    for (const key in attributes) {
      entries += 1
      contentBytes += bytesOfAttribute(attributes, key)
    }
    for (const event of events) contentBytes += event.name.length + bytesOf(event.attributes)
  } catch {
    // Only what has no keys or no events ends the count; the run must still be closed.
  }
  if (entries > USUAL_ENTRIES) contentBytes += (entries - USUAL_ENTRIES) * BYTES_OF_MORE_ENTRIES
  const heldBytes = HELD_BYTES_OF_SPAN + contentBytes + entries * HELD_BYTES_OF_ENTRY
  return { contentBytes, heldBytes, isTooRich: contentBytes >= BYTES_OF_UNCOUNTED }
}

/** The bytes of an attribute. If it cannot be counted, it cannot be read either, but the others can. */
function bytesOfAttribute(attributes: SdkSpanLike['attributes'], key: string): number {
  try {
    const value = attributes[key]
    return typeof value === 'string' ? value.length : bytesOf(value, 1)
  } catch {
    return 0
  }
}

/** Reading the message of a log record takes as long as reading this many bytes of content, whatever its size. */
const BYTES_OF_LOG = 256
/** Above this number, each log record of a span counts more, because a span is read in one turn of the event loop. */
const USUAL_LOGS = 5000
const BYTES_OF_MORE_LOGS = 2048

/** Estimates the bytes of a log record. */
export function bytesOfLog({ attributes, body }: SourceLog): Size {
  const held = bytesOf(attributes) + bytesOf(body)
  return {
    contentBytes: held + BYTES_OF_LOG,
    heldBytes: held + 8 * HELD_BYTES_OF_ENTRY,
    isTooRich: held >= BYTES_OF_UNCOUNTED,
  }
}

/** What the latest log record of a span counts further, if the span has that many. */
export function bytesOfMoreLogs(count: number): number {
  return count > USUAL_LOGS ? BYTES_OF_MORE_LOGS : 0
}

/** A log record without what is too much to be read. Its run is too large to be scored. */
export function asTooRich({ body: _body, ...log }: SourceLog): SourceLog {
  return { ...log, attributes: {} }
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

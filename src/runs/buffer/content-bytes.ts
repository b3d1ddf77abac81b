import type { ReplacedValues, SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { isRecord } from '../../spans/json.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import { BYTES_OF_VALUE, bytesOfKey, LEAST_COUNTED, USUAL_KEY_LENGTH, ValueTaker } from '../../spans/take-values.ts'

/** What values above the number that is read count for together: too much for the run to be read. */
const BYTES_OF_UNCOUNTED = 32 * 1024 * 1024

/** Memory for a span without content: the SDK's object, its ids, times, context and attributes, and our record. */
const HELD_BYTES_OF_SPAN = 2048

/** Memory for each further attribute, event, item or log record, besides its text. */
const HELD_BYTES_OF_ENTRY = 64

/** The SDK's default limit for a span's attributes and events. */
const USUAL_ENTRIES = 256
/** Reading one attribute or event above that limit takes as long as reading this many bytes of content. */
const BYTES_OF_MORE_ENTRIES = 512

/** Estimates of what a span or log record takes. */
export interface Size {
  readonly contentBytes: number
  readonly heldBytes: number
}

/** What is read of a span, and what it takes. */
export interface TakenSpan extends Size, ReplacedValues {}

/**
 * Takes a span's attributes and events, and estimates the bytes of their text, name and status included: one for each character of a
 * string, eight for any other value. Also estimates the memory that they take.
 */
export function takeSpan(span: SdkSpanLike): TakenSpan {
  const { name, status, events, links = NONE } = span
  const taker = new ValueTaker()
  const attributes = takeAttributes(span.attributes, taker)
  const takenEvents = events.length === 0 ? events : events.map((event) => takeEvent(event, taker))
  const { entries } = taker
  let contentBytes = taker.bytes + name.length + (status.message?.length ?? 0)
  if (entries > USUAL_ENTRIES) contentBytes += (entries - USUAL_ENTRIES) * BYTES_OF_MORE_ENTRIES
  if (taker.isTooRich) contentBytes += BYTES_OF_UNCOUNTED
  const heldBytes = HELD_BYTES_OF_SPAN + contentBytes + entries * HELD_BYTES_OF_ENTRY
  return {
    contentBytes,
    heldBytes: links.length === 0 ? heldBytes : heldBytes + heldBytesOfLinks(links),
    attributes,
    events: takenEvents,
  }
}

/** Links are held with the span, and nothing reads them. */
function heldBytesOfLinks(links: NonNullable<SdkSpanLike['links']>): number {
  const taker = new ValueTaker()
  for (const { attributes } of links) if (attributes !== undefined) takeAttributes(attributes, taker)
  return taker.bytes + (links.length + taker.entries) * HELD_BYTES_OF_ENTRY + (taker.isTooRich ? BYTES_OF_UNCOUNTED : 0)
}

type Attributes = Readonly<Record<string, unknown>>

/** Attributes as they are, unless some have to be copied or left out. Nearly all are short texts and numbers. */
function takeAttributes(attributes: Attributes, taker: ValueTaker): Attributes {
  /** The keys whose values are copied or left out. Most spans have none. */
  let replaced: Map<string, unknown> | undefined
  // Attributes are plain objects, and `for in` needs no array of keys.
  // oxlint-disable-next-line eslint/guard-for-in
  for (const key in attributes) {
    taker.entries += 1
    if (key.length > USUAL_KEY_LENGTH) taker.bytes += key.length
    const value = attributes[key]
    if (typeof value === 'string' && value.length < LEAST_COUNTED) taker.bytes += value.length
    else if (typeof value === 'number' || typeof value === 'boolean') taker.bytes += BYTES_OF_VALUE
    else {
      const taken = taker.take(value)
      if (taken !== value || value === undefined) (replaced ??= new Map<string, unknown>()).set(key, taken)
    }
  }
  return replaced === undefined ? attributes : withReplaced(attributes, replaced)
}

function withReplaced(attributes: Attributes, replaced: ReadonlyMap<string, unknown>): Attributes {
  const own: Record<string, unknown> = {}
  for (const key in attributes) {
    const value = replaced.has(key) ? replaced.get(key) : attributes[key]
    if (value !== undefined && key !== '__proto__') own[key] = value
  }
  return own
}

type Event = SdkSpanLike['events'][number]

function takeEvent(event: Event, taker: ValueTaker): Event {
  const { name, time, attributes = NO_ATTRIBUTES } = event
  taker.bytes += name.length
  taker.entries += 2
  const taken = takeAttributes(attributes, taker)
  return taken === attributes ? event : { name, time, attributes: taken }
}

const NONE: NonNullable<SdkSpanLike['links']> = []
const NO_ATTRIBUTES: Attributes = {}

/** Reading the message of a log record takes as long as reading this many bytes of content, whatever its size. */
const BYTES_OF_LOG = 256
/** Above this number, each log record of a span counts more, because a span is read in one turn of the event loop. */
const USUAL_LOGS = 5000
const BYTES_OF_MORE_LOGS = 2048

/** A log record of which nothing belongs to the application, and what it takes. */
export interface TakenLog extends Size {
  readonly log: SourceLog
}

/**
 * Takes a log record, and estimates its bytes. If it cannot be read, or is too rich, it has no attributes and no body, and counts as too
 * large to be read.
 */
export function takeLog(log: SourceLog): TakenLog {
  const taker = new ValueTaker()
  const [attributes, body] = [taker.take(log.attributes), taker.take(log.body)]
  const isRead = isRecord(attributes) && (body !== undefined || log.body === undefined)
  const { body: _, ...others } = log
  const names = bytesOfKey(log.eventName ?? '') + bytesOfKey(log.scope.name)
  const bytes = names + (isRead ? taker.bytes : BYTES_OF_UNCOUNTED)
  return {
    log: isRead ? { ...others, attributes, ...(body !== undefined && { body }) } : { ...others, attributes: {} },
    contentBytes: bytes + BYTES_OF_LOG,
    heldBytes: bytes + 8 * HELD_BYTES_OF_ENTRY,
  }
}

/** What the latest log record of a span counts further, if the span has that many. */
export function bytesOfMoreLogs(count: number): number {
  return count > USUAL_LOGS ? BYTES_OF_MORE_LOGS : 0
}

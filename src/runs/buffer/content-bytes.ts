import type { ReplacedValues, SdkSpanLike } from '../../spans/from-sdk-span.ts'
import { isRecord } from '../../spans/json.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import { bytesOfKey, isOrdinaryArray, ValueTaker } from '../../spans/take-values.ts'

/** What values above the number that is read count for together: too much for the run to be read. */
const BYTES_OF_UNCOUNTED = 32 * 1024 * 1024

/** Memory for a span without content: the SDK's object, its ids, times, context and attributes, and our record. */
const HELD_BYTES_OF_SPAN = 2048

/** Memory for each further attribute, event, item or log record, besides its text. */
const HELD_BYTES_OF_ENTRY = 64

/** Texts and keys up to these lengths are counted by their characters. */
const [USUAL_LENGTH, USUAL_LENGTH_OF_KEY, BYTES_OF_NUMBER] = [4000, 256, 8]

/** The SDK's default limit for a span's attributes and events. */
const USUAL_ENTRIES = 256
/** Reading one attribute or event above that limit takes as long as reading this many bytes of content. */
const BYTES_OF_MORE_ENTRIES = 512

/** Estimates of what a span or log record takes. */
export interface Size {
  readonly contentBytes: number
  readonly heldBytes: number
}

/** What is read of an ended span, and what it takes. */
export interface TakenSpan extends Size, ReplacedValues {}

/**
 * Takes a span's attributes and events, and estimates the bytes of their text, name and status included: one for each character of a
 * string, eight for any other value. Also estimates the memory that they take. Never throws: what cannot be read is left out.
 */
export function takeSpan(span: SdkSpanLike): TakenSpan {
  const taker = new ValueTaker()
  const takenAttributes = takeAttributesOf(span, taker)
  const takenEvents = takeEvents(span, taker)
  takeTexts(span, taker)
  const entries = takenAttributes.count + takenEvents.count
  let contentBytes = taker.bytes
  if (entries > USUAL_ENTRIES) contentBytes += (entries - USUAL_ENTRIES) * BYTES_OF_MORE_ENTRIES
  if (taker.isTooRich) contentBytes += BYTES_OF_UNCOUNTED
  return {
    contentBytes,
    heldBytes: HELD_BYTES_OF_SPAN + contentBytes + entries * HELD_BYTES_OF_ENTRY + heldBytesOfLinks(span),
    attributes: takenAttributes.values,
    events: takenEvents.values,
  }
}

/** Estimates the memory of a span that is open, so that one that never ends is counted, too. Never throws. */
export function heldBytesOfOpen(span: SdkSpanLike): number {
  const taker = new ValueTaker()
  const count = takeAttributesOf(span, taker).count + takeEvents(span, taker).count
  takeTexts(span, taker)
  const heldBytes = HELD_BYTES_OF_SPAN + taker.bytes + count * HELD_BYTES_OF_ENTRY + heldBytesOfLinks(span)
  return heldBytes + (taker.isTooRich ? BYTES_OF_UNCOUNTED : 0)
}

/** Links are held with the span, and nothing reads them. */
function heldBytesOfLinks(span: SdkSpanLike): number {
  try {
    if (span.links === undefined || span.links.length === 0) return 0
  } catch {
    return 0
  }
  const taker = new ValueTaker()
  let count = 0
  guarded(() =>
    taker.forEach(span.links ?? [], (link) => {
      count += 1 + takeAttributes(() => link.attributes ?? {}, taker).count
    }),
  )
  return taker.bytes + count * HELD_BYTES_OF_ENTRY + (taker.isTooRich ? BYTES_OF_UNCOUNTED : 0)
}

interface Taken<T> {
  readonly values: T | undefined
  readonly count: number
}

type Attributes = Readonly<Record<string, unknown>>

/** Takes the attributes of a span. Nearly all are short texts and numbers, which are what they seem. */
function takeAttributesOf(span: SdkSpanLike, taker: ValueTaker): Taken<Attributes> {
  try {
    let [count, bytes, isUsual] = [0, 0, true]
    const { attributes } = span
    // Attributes are plain objects, and `for in` needs no array of keys.
    // oxlint-disable-next-line eslint/guard-for-in
    for (const key in attributes) {
      const value = attributes[key]
      count += 1
      if (typeof value === 'string' && value.length < USUAL_LENGTH) bytes += value.length
      else if (typeof value === 'number' || typeof value === 'boolean') bytes += BYTES_OF_NUMBER
      else isUsual = false
      if (key.length > USUAL_LENGTH_OF_KEY) isUsual = false
    }
    if (isUsual) {
      taker.bytes += bytes
      return { values: undefined, count }
    }
  } catch {
    // One that cannot be read is left out below.
  }
  return takeAttributes(() => span.attributes, taker)
}

/** Takes the name and the message of the status. */
function takeTexts(span: SdkSpanLike, taker: ValueTaker): void {
  taker.take(guarded(() => span.name) ?? '')
  try {
    if (span.status.message !== undefined) taker.take(span.status.message)
  } catch {
    // What cannot be read takes nothing.
  }
}

function takeAttributes(read: () => Attributes, taker: ValueTaker): Taken<Attributes> {
  let count = 0
  /** The keys whose values are copied or left out. Most spans have none. */
  let replaced: Map<string, unknown> | undefined
  try {
    const attributes = read()
    // Attributes are plain objects, and `for in` needs no array of keys.
    // oxlint-disable-next-line eslint/guard-for-in
    for (const key in attributes) {
      count += 1
      taker.bytes += bytesOfKey(key)
      const value = valueOf(attributes, key)
      const taken = taker.take(value)
      if (taken !== value || value === undefined) (replaced ??= new Map<string, unknown>()).set(key, taken)
    }
    return { values: replaced && withReplaced(attributes, replaced), count }
  } catch {
    return { values: {}, count }
  }
}

function valueOf(attributes: Attributes, key: string): unknown {
  try {
    return attributes[key]
  } catch {
    return undefined
  }
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

function takeEvents(span: SdkSpanLike, taker: ValueTaker): Taken<readonly Event[]> {
  const taken: Event[] = []
  let isReplaced = false
  let count = 0
  try {
    const { events } = span
    if (events.length === 0 && isOrdinaryArray(events)) return { values: undefined, count }
    isReplaced = !isOrdinaryArray(events)
    taker.forEach(events, (event) => {
      count += 2
      const own = guarded(() => takeEvent(event, taker))
      if (own !== event || own === undefined) isReplaced = true
      if (own !== undefined) taken.push(own)
    })
  } catch {
    isReplaced = true
  }
  return { values: isReplaced ? taken : undefined, count }
}

function takeEvent(event: Event, taker: ValueTaker): Event {
  const { name, time, attributes } = event
  taker.bytes += name.length
  const taken = takeAttributes(() => attributes ?? {}, taker)
  return taken.values === undefined ? event : { name, time, attributes: taken.values }
}

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
  const names = guarded(() => bytesOfKey(log.eventName ?? '') + bytesOfKey(log.scope.name)) ?? 0
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

function guarded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

import type { SourceEvent, SourceLog, SourceSpan } from '../spans/source-span.ts'
import { isParentRemote, scopeFrom, toStatusCode } from './batch.ts'
import {
  checkEnd,
  eachField,
  endOf,
  readId,
  readKeyValue,
  readString,
  readTag,
  readTime,
  readValue,
  skipField,
} from './protobuf-values.ts'
import type { Reader } from './protobuf-values.ts'

type Attributes = Record<string, unknown>
type Scope = SourceSpan['scope']

/** What is known of a span before it is read. */
export interface SpanOrigin {
  readonly resource: Attributes
  readonly scope: Scope
  /** Its ids, where it was read before: they are not read again. */
  readonly ids?: IdsOfSpan | undefined
}

/** The ids of a span. */
export type IdsOfSpan = Pick<SourceSpan, 'traceId' | 'spanId' | 'parentSpanId'>

/** Shared by all spans without events. */
const NO_EVENTS: readonly SourceEvent[] = []

/** Shared by all spans whose status is not set. */
const UNSET: SourceSpan['status'] = { code: 'unset' }

/**
 * Reads a span; `undefined` if it has no ids.
 *
 * @param isOrdinary whether to skip attributes and events
 */
export function readSpan(
  reader: Reader,
  end: number,
  { resource, scope, ids }: SpanOrigin,
  isOrdinary: boolean,
): SourceSpan | undefined {
  const attributes: Attributes = {}
  let events: SourceEvent[] | undefined
  let traceId = ids?.traceId ?? ''
  let spanId = ids?.spanId ?? ''
  let parentSpanId = ids?.parentSpanId ?? ''
  let name = ''
  let kind = 0
  let startTimeMs = 0
  let endTimeMs = 0
  let status = UNSET
  let droppedAttributesCount = 0
  let flags = 0
  // A loop and no callback, and one literal at the end: this runs twice for each span of each request.
  while (reader.pos < end) {
    const tag = readTag(reader)
    const field = tag >>> 3
    if (field === 9 && !isOrdinary) readKeyValue(reader, endOf(reader), attributes, false, 0)
    else if (field === 1 && ids === undefined) traceId = readId(reader, 16)
    else if (field === 2 && ids === undefined) spanId = readId(reader, 8)
    else if (field === 4 && ids === undefined) parentSpanId = readId(reader, 8)
    else if (field === 5) name = readString(reader)
    else if (field === 6) kind = reader.uint32()
    else if (field === 7) startTimeMs = readTime(reader, tag & 7)
    else if (field === 8) endTimeMs = readTime(reader, tag & 7)
    else if (field === 10) droppedAttributesCount = reader.uint32()
    else if (field === 11 && !isOrdinary) (events ??= []).push(readEvent(reader, endOf(reader)))
    else if (field === 15) status = readStatus(reader, endOf(reader))
    else if (field === 16) flags = reader.fixed32()
    else skipField(reader, tag)
  }
  checkEnd(reader, end)
  if (traceId === '' || spanId === '') return undefined
  return {
    traceId,
    spanId,
    parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
    parentIsRemote: isParentRemote(flags) ? true : undefined,
    name,
    kind,
    startTimeMs,
    endTimeMs: endTimeMs || startTimeMs,
    scope: scopeFrom(scope, attributes),
    attributes,
    events: events ?? NO_EVENTS,
    status,
    resource,
    droppedAttributesCount,
    parsed: undefined,
  }
}

function readEvent(reader: Reader, end: number): SourceEvent {
  const attributes: Attributes = {}
  let timeMs = 0
  let name = ''
  eachField(reader, end, (field, wireType) => {
    if (field === 1) timeMs = readTime(reader, wireType)
    else if (field === 2) name = readString(reader)
    else if (field === 3) readKeyValue(reader, endOf(reader), attributes, false, 0)
    else return false
    return true
  })
  return { name, timeMs, attributes }
}

function readStatus(reader: Reader, end: number): SourceSpan['status'] {
  let message = ''
  let code = 0
  eachField(reader, end, (field) => {
    if (field === 2) message = readString(reader)
    else if (field === 3) code = reader.uint32()
    else return false
    return true
  })
  return message === '' ? { code: toStatusCode(code) } : { code: toStatusCode(code), message }
}

/** Reads a log record. */
export function readLog(reader: Reader, end: number, scope: Scope): SourceLog {
  const attributes: Attributes = {}
  const log = { traceId: '', spanId: '', eventName: '' }
  let timeMs = 0
  let observedTimeMs = 0
  let body: unknown
  eachField(reader, end, (field, wireType) => {
    if (field === 1) timeMs = readTime(reader, wireType)
    else if (field === 5) body = readValue(reader, endOf(reader), 0)
    else if (field === 6) readKeyValue(reader, endOf(reader), attributes, false, 0)
    else if (field === 9) log.traceId = readId(reader, 16)
    else if (field === 10) log.spanId = readId(reader, 8)
    else if (field === 11) observedTimeMs = readTime(reader, wireType)
    else if (field === 12) log.eventName = readString(reader)
    else return false
    return true
  })
  const eventName = log.eventName || attributes['event.name']
  return {
    traceId: log.traceId,
    spanId: log.spanId,
    ...(typeof eventName === 'string' && eventName !== '' && { eventName }),
    timeMs: timeMs || observedTimeMs,
    attributes,
    ...(body !== undefined && { body }),
    scope,
  }
}

/** Reads an instrumentation scope. */
export function readScope(reader: Reader, end: number): Scope {
  let name = ''
  let version = ''
  eachField(reader, end, (field) => {
    if (field === 1) name = readString(reader)
    else if (field === 2) version = readString(reader)
    else return false
    return true
  })
  return version === '' ? { name } : { name, version }
}

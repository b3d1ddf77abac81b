import type { SourceEvent, SourceLog, SourceSpan } from '../spans/source-span.ts'
import { isParentRemote, toStatusCode } from './batch.ts'
import { eachField, endOf, readId, readKeyValue, readString, readTime, readValue } from './protobuf-values.ts'
import type { Reader } from './protobuf-values.ts'

type Attributes = Record<string, unknown>
type Scope = SourceSpan['scope']

/**
 * Reads a span; `undefined` if it has no ids.
 *
 * @param isOrdinary whether to skip attributes and events
 */
export function readSpan(
  reader: Reader,
  end: number,
  resource: Attributes,
  scope: Scope,
  isOrdinary: boolean,
): SourceSpan | undefined {
  const attributes: Attributes = {}
  const events: SourceEvent[] = []
  const span = { traceId: '', spanId: '', parentSpanId: '', name: '', kind: 0, startTimeMs: 0, endTimeMs: 0 }
  let status: SourceSpan['status'] = { code: 'unset' }
  let droppedAttributesCount = 0
  let flags = 0
  eachField(reader, end, (field, wireType) => {
    if (field === 1) span.traceId = readId(reader, 16)
    else if (field === 2) span.spanId = readId(reader, 8)
    else if (field === 4) span.parentSpanId = readId(reader, 8)
    else if (field === 5) span.name = readString(reader)
    else if (isOrdinary && (field === 9 || field === 11)) return false
    else if (field === 6) span.kind = reader.uint32()
    else if (field === 7) span.startTimeMs = readTime(reader, wireType)
    else if (field === 8) span.endTimeMs = readTime(reader, wireType)
    else if (field === 9) readKeyValue(reader, endOf(reader), attributes, false, 0)
    else if (field === 10) droppedAttributesCount = reader.uint32()
    else if (field === 11) events.push(readEvent(reader, endOf(reader)))
    else if (field === 15) status = readStatus(reader, endOf(reader))
    else if (field === 16) flags = reader.fixed32()
    else return false
    return true
  })
  if (span.traceId === '' || span.spanId === '') return undefined
  const { parentSpanId, ...rest } = span
  return {
    ...rest,
    ...(parentSpanId !== '' && { parentSpanId }),
    ...(isParentRemote(flags) && { parentIsRemote: true }),
    endTimeMs: span.endTimeMs || span.startTimeMs,
    scope,
    attributes,
    events,
    status,
    resource,
    droppedAttributesCount,
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

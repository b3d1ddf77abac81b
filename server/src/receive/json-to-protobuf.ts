import { readOtlpJson } from 'spanscore/engine'
import type { OtlpBatch, SourceLog, SourceSpan } from 'spanscore/engine'

import { OtlpWriter } from '../otlp/otlp-writer.ts'
import { Refusal } from './refusal.ts'

/**
 * Reads a JSON request body.
 *
 * @param maxValues Maximum number of values in it. Parsing a small text of millions of empty ones takes seconds and gigabytes.
 * @throws Refusal if it is not an OTLP request, or has too many values
 */
export function parseJsonRequest(body: Uint8Array, maxValues: number = Number.POSITIVE_INFINITY): OtlpBatch {
  if (hasMoreValues(body, maxValues)) {
    throw new Refusal('too-large', `Expected a request of at most ${maxValues} JSON values, got more.`)
  }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    throw new Refusal(
      'malformed',
      `Expected an OTLP export request in JSON, got text that is none: ${positionOf(error)}.`,
    )
  }
  const notAList = LISTS.find((name) => isOtherThanList(value, name))
  if (notAList !== undefined) throw new Refusal('malformed', `Expected a list as ${notAList}, got another value.`)
  const batch = readOtlpJson(value)
  if (batch === undefined) {
    throw new Refusal('malformed', 'Expected an object with resourceSpans or resourceLogs, got JSON without either.')
  }
  return batch
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const LIST = 0x5b
const OBJECT = 0x7b

/** Whether a JSON text has more values than this, counted by the commas and brackets outside of strings. */
function hasMoreValues(text: Uint8Array, most: number): boolean {
  if (text.byteLength <= most) return false
  let values = 0
  let isString = false
  for (let at = 0; at < text.byteLength; at++) {
    const byte = text[at]
    if (isString) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isString = false
    } else if (byte === QUOTE) isString = true
    else if (byte === COMMA || byte === LIST || byte === OBJECT) {
      values += 1
      if (values > most) return true
    }
  }
  return false
}

const LISTS = ['resourceSpans', 'resourceLogs'] as const

/** In protobuf's JSON, `null` means no value. */
function isOtherThanList(value: unknown, name: (typeof LISTS)[number]): boolean {
  if (typeof value !== 'object' || value === null || !(name in value)) return false
  const list: unknown = Reflect.get(value, name)
  return list !== null && list !== undefined && !Array.isArray(list)
}

const writer = new OtlpWriter()

/** Encodes a JSON request as `ExportTraceServiceRequest` and `ExportLogsServiceRequest` in one, in the same order. */
export function toProtobuf({ spans, logs }: OtlpBatch): Uint8Array {
  for (const ofOrigin of grouped(spans, ({ resource, scope }) => [resource, scope])) {
    const [first] = ofOrigin
    if (first === undefined) continue
    const entry = writer.begin(1)
    const resource = writer.begin(1)
    writer.attributes(1, first.resource)
    writer.end(resource)
    writeRecords(first.scope, ofOrigin, writeSpan)
    writer.end(entry)
  }
  for (const ofOrigin of grouped(logs, ({ scope }) => [scope])) {
    const [first] = ofOrigin
    if (first === undefined) continue
    const entry = writer.begin(1)
    writeRecords(first.scope, ofOrigin, writeLog)
    writer.end(entry)
  }
  return writer.take()
}

/** Groups neighbours with the same origin. */
function grouped<T>(records: readonly T[], originOf: (record: T) => readonly unknown[]): readonly (readonly T[])[] {
  const groups: T[][] = []
  let latest: readonly unknown[] = []
  for (const record of records) {
    const origin = originOf(record)
    if (groups.length === 0 || origin.some((part, index) => part !== latest[index])) groups.push([])
    latest = origin
    groups.at(-1)?.push(record)
  }
  return groups
}

/** `ScopeSpans` and `ScopeLogs`. */
function writeRecords<T>(scope: SourceSpan['scope'], records: readonly T[], write: (record: T) => void): void {
  const entry = writer.begin(2)
  const start = writer.begin(1)
  writer.string(1, scope.name)
  if (scope.version !== undefined) writer.string(2, scope.version)
  writer.end(start)
  for (const record of records) {
    const startOfRecord = writer.begin(2)
    write(record)
    writer.end(startOfRecord)
  }
  writer.end(entry)
}

const STATUS = { unset: 0, ok: 1, error: 2 } as const

/** The flags of a span with a remote parent. */
const REMOTE_PARENT = 0x300

function writeSpan(span: SourceSpan): void {
  writer.id(1, span.traceId)
  writer.id(2, span.spanId)
  if (span.parentSpanId !== undefined) writer.id(4, span.parentSpanId)
  writer.string(5, span.name)
  writer.integer(6, toCount(span.kind))
  writer.timeMs(7, span.startTimeMs)
  writer.timeMs(8, span.endTimeMs)
  writer.attributes(9, span.attributes)
  writer.integer(10, toCount(span.droppedAttributesCount))
  for (const { name, timeMs, attributes } of span.events) {
    const start = writer.begin(11)
    writer.timeMs(1, timeMs)
    writer.string(2, name)
    writer.attributes(3, attributes)
    writer.end(start)
  }
  const status = writer.begin(15)
  if (span.status.message !== undefined) writer.string(2, span.status.message)
  writer.integer(3, STATUS[span.status.code])
  writer.end(status)
  if (span.parentIsRemote === true) writer.fixed32(16, REMOTE_PARENT)
}

function writeLog(log: SourceLog): void {
  writer.timeMs(1, log.timeMs)
  if (log.body !== undefined) writer.value(5, log.body)
  writer.attributes(6, log.attributes)
  if (log.traceId !== '') writer.id(9, log.traceId)
  if (log.spanId !== '') writer.id(10, log.spanId)
  if (log.eventName !== undefined) writer.string(12, log.eventName)
}

/** Counts and kinds are 32-bit integers. */
function toCount(value: number): number {
  return Math.min(Math.max(0, Math.trunc(value) || 0), 0xffffffff)
}

/** The parser's message quotes content, so only the position is returned. */
function positionOf(error: unknown): string {
  const [position] = /position \d+/.exec(error instanceof Error ? error.message : '') ?? []
  return position === undefined ? 'it does not parse' : `it does not parse at ${position}`
}

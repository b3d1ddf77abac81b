import type { SourceLog, SourceSpan } from 'spanscore/engine'

import type { LogRecord, SpanLog } from '../log/span-log.ts'
import type { RequestReader } from '../receive/read-request.ts'
import { blank } from './blanked.ts'
import type { Person } from '../person.ts'

/** Names of attributes that may hold the id of a user, and of a conversation. */
const OF_USER = /user|customer/i
const OF_CONVERSATION = /conversation|session|thread|group_id/i

type LogParts = Required<Pick<SpanLog, 'records' | 'replaceBody'>>

/** The traces of a person with spans or log records that wait on the log. */
export function tracesOnLog(log: LogParts, reader: RequestReader, person: Person): ReadonlySet<string> {
  const found = new Set<string>()
  const isWanted = wantedBy(person)
  for (const record of log.records()) {
    const { spans, logs } = read(() => reader.sources(record)) ?? { spans: [], logs: [] }
    for (const each of [...spans, ...logs]) if (each !== undefined && isWanted(each)) found.add(each.traceId)
  }
  return found
}

/** Overwrites what waits on the log of some traces. Other traces in the same requests stay. */
export function forgetOnLog(log: LogParts, reader: RequestReader, traceIds: ReadonlySet<string>): void {
  for (const record of log.records()) {
    const bytes = read(() => withoutTraces(record, reader, traceIds))
    if (bytes !== undefined) log.replaceBody(record.offset, bytes)
  }
}

function withoutTraces(
  record: LogRecord,
  reader: RequestReader,
  traceIds: ReadonlySet<string>,
): Uint8Array | undefined {
  const { spans, logs, bytes } = reader.decode(record)
  const all = [...spans, ...logs]
  if (!all.some((each) => each !== undefined && traceIds.has(each.traceId))) return undefined
  const request = Uint8Array.from(bytes.body.bytes)
  for (const [index, each] of all.entries()) {
    if (each === undefined || !traceIds.has(each.traceId)) continue
    const place = { start: bytes.places[2 * index] ?? 0, end: bytes.places[2 * index + 1] ?? 0 }
    blank(request, place, index < spans.length ? 'span' : 'log', each)
  }
  return request
}

function wantedBy(person: Person): (each: SourceSpan | SourceLog) => boolean {
  if ('trace' in person) return ({ traceId }) => traceId === person.trace
  const [names, id] = 'user' in person ? [OF_USER, person.user] : [OF_CONVERSATION, person.conversation]
  return ({ attributes }) => Object.entries(attributes).some(([name, value]) => value === id && names.test(name))
}

/** A record that cannot be read has no spans. */
function read<Result>(what: () => Result): Result | undefined {
  try {
    return what()
  } catch {
    return undefined
  }
}

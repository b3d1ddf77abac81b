import type { SourceSpan } from 'spanscore/engine'

import type { RecordBody, RecordBytes } from '../log/span-log.ts'

/**
 * Where a span or a log record is in the body of its request. It is decoded when it is received, to see what it is, and again when
 * its run is complete: decoded spans cost the garbage collector more, while they wait, than decoding does.
 */
export interface HeldBytes {
  /** `undefined` if it is not in memory, or not needed. */
  body: RecordBody | undefined
  readonly start: number
  readonly end: number
}

/** What the object of a span or a log record takes in memory beside its bytes, as an estimate. */
const OBJECT_BYTES = 400

/** What a span or a log record takes in memory, or would, as an estimate. */
export function heldSize({ start, end }: HeldBytes): number {
  return end - start + OBJECT_BYTES
}

/** Where the span or log record with an index is; it is not held yet. */
export function placeIn({ places }: RecordBytes, index: number): HeldBytes {
  return { body: undefined, start: places[2 * index] ?? 0, end: places[2 * index + 1] ?? 0 }
}

/** What is kept of a span that no dialect recognises. */
export type SpanLink = Pick<SourceSpan, 'spanId' | 'parentSpanId' | 'parentIsRemote' | 'startTimeMs' | 'endTimeMs'>

const NOTHING = {}

/** A span that no dialect recognises keeps its place in the trace and nothing else. */
export function bareSpan(traceId: string, link: SpanLink): SourceSpan {
  const { spanId, parentSpanId, parentIsRemote, startTimeMs, endTimeMs } = link
  return {
    traceId,
    spanId,
    parentSpanId,
    parentIsRemote,
    startTimeMs,
    endTimeMs,
    name: '',
    kind: 0,
    scope: { name: '' },
    attributes: NOTHING,
    events: [],
    status: { code: 'unset' },
    resource: NOTHING,
    droppedAttributesCount: 0,
  }
}

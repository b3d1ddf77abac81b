import type { SourceSpan } from 'spanscore/engine'

import type { RecordBody, RecordBytes } from '../log/span-log.ts'

/**
 * The position of a span or log record in its request's body. It is decoded on receipt, to see what it is, and again when its run is
 * complete: decoded spans cost the garbage collector more while they wait than decoding does.
 */
export interface HeldBytes {
  /** `undefined` if it is not in memory, or not needed. */
  body: RecordBody | undefined
  readonly start: number
  readonly end: number
}

/** Estimated bytes of a span or log record's object in memory, besides its data. */
const OBJECT_BYTES = 400

/** Estimated bytes of a span or log record in memory, or if it were in memory. */
export function heldSize({ start, end }: HeldBytes): number {
  return end - start + OBJECT_BYTES
}

/** The position of the span or log record with an index. It is not held yet. */
export function placeIn({ places }: RecordBytes, index: number): HeldBytes {
  return { body: undefined, start: places[2 * index] ?? 0, end: places[2 * index + 1] ?? 0 }
}

/** What is kept of a span that no dialect recognises. */
export type SpanLink = Pick<SourceSpan, 'spanId' | 'parentSpanId' | 'parentIsRemote' | 'startTimeMs' | 'endTimeMs'>

const NOTHING = {}

/** Reduces a span that no dialect recognises to its place in the trace. */
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

import type { SourceSpan } from 'spanscore/engine'

/**
 * A span in the bytes of its request. It is decoded when it is received, to see what it is, and again when its run is complete:
 * bytes cost the garbage collector nothing while they wait, and decoded spans cost it more than decoding does.
 */
export interface SpanInBytes {
  readonly body: Uint8Array
  readonly start: number
  readonly end: number
  readonly resource: SourceSpan['resource']
  readonly scope: SourceSpan['scope']
}

/** What is in memory of a span until it is scored. Spans that came as JSON are held as they were read. */
export type SpanContent = SpanInBytes | SourceSpan

/** What an object of a span takes beside its texts: about 600 bytes for one with twenty attributes. */
const SPAN_BYTES = 600

/** What a place in a request takes beside the bytes themselves. */
const PLACE_BYTES = 100

/** What content takes in memory, as an estimate in bytes. */
export function contentBytes(content: SpanContent): number {
  if ('body' in content) return content.end - content.start + PLACE_BYTES
  let bytes = SPAN_BYTES + textBytes(content.attributes)
  for (const event of content.events) bytes += textBytes(event.attributes)
  return bytes
}

/** Structured values are rare, and are counted as if they were small. */
function textBytes(attributes: Readonly<Record<string, unknown>>): number {
  let bytes = 0
  // oxlint-disable-next-line eslint/guard-for-in -- attributes are plain objects, and this loop makes no array
  for (const key in attributes) {
    const value = attributes[key]
    if (typeof value === 'string') bytes += value.length
  }
  return bytes
}

const NOTHING = {}

/** A span that no dialect recognises keeps its place in the trace and nothing else. */
export function bareSpan(source: SourceSpan): SourceSpan {
  const { traceId, spanId, parentSpanId, name, kind, startTimeMs, endTimeMs } = source
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    startTimeMs,
    endTimeMs,
    scope: { name: '' },
    attributes: NOTHING,
    events: [],
    status: { code: 'unset' },
    resource: NOTHING,
    droppedAttributesCount: 0,
  }
}

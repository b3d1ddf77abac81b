/** Bytes of trace id and span id with their tags. */
const IDS_BYTES = 28

/** Tags of trace id and span id (length-delimited): fields 1 and 2 of a span, 9 and 10 of a log record. */
const TAGS = { span: [0x0a, 0x12], log: [0x4a, 0x52] } as const

/** The tag of field 100, which neither has: readers skip it. */
const UNKNOWN = [0xa2, 0x06] as const

/** Bytes of a length as a varint that is filled up. */
const LENGTH_BYTES = 5

/**
 * Overwrites a span or log record in a request, without moving anything else in it: its ids stay, and zeros that readers skip take the place of the rest.
 *
 * @param place the bytes of the message in the request
 */
export function blank(
  request: Uint8Array,
  { start, end }: { readonly start: number; readonly end: number },
  kind: keyof typeof TAGS,
  { traceId, spanId }: { readonly traceId: string; readonly spanId: string },
): void {
  const rest = end - start - IDS_BYTES - UNKNOWN.length - LENGTH_BYTES
  // Nothing has room in so few bytes but ids and times.
  if (rest < 0) return
  const [ofTrace, ofSpan] = TAGS[kind]
  request.fill(0, start, end)
  request.set(
    [ofTrace, 16, ...Buffer.from(traceId, 'hex'), ofSpan, 8, ...Buffer.from(spanId, 'hex'), ...UNKNOWN],
    start,
  )
  const lengthAt = start + IDS_BYTES + UNKNOWN.length
  for (let index = 0; index < LENGTH_BYTES; index++) {
    const isLast = index === LENGTH_BYTES - 1
    request[lengthAt + index] = ((rest >>> (7 * index)) & 0x7f) | (isLast ? 0 : 0x80)
  }
}

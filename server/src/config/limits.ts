import { z } from 'zod'

const MEBIBYTE = 1024 * 1024

const limit = (schema: z.ZodNumber, byDefault: number, doc: string) =>
  schema.default(byDefault).describe(`${doc} Default: ${byDefault}.`)
const count = (byDefault: number, doc: string) => limit(z.number().int().min(1), byDefault, doc)
const amount = (byDefault: number, doc: string) => limit(z.number().gt(0), byDefault, doc)

/** What the service takes and holds at most. Sizes are in MiB. */
export const LIMITS = {
  traceSpans: count(10_000, 'Maximum number of spans in one trace.'),
  traceMiB: amount(64, 'Maximum size of one trace.'),
  traceSeconds: amount(86_400, 'Maximum time that a run is open.'),
  heldSpans: count(150_000, 'Maximum number of spans in all traces; requests are refused above it.'),
  contentMiB: limit(z.number().min(0), 64, 'Maximum size of content in memory; the rest is read from the log again.'),
  bodyMiB: amount(16, 'Maximum size of a request.'),
  decompressedMiB: amount(64, 'Maximum size of a decompressed request.'),
  receivingMiB: amount(
    256,
    'Maximum size of all requests that are not answered yet; above it, the largest is refused. At least bodyMiB and decompressedMiB together.',
  ),
  requestSpans: count(50_000, 'Maximum number of spans or log records in one request.'),
  spanMiB: amount(4, 'Maximum size of one span.'),
  connections: count(1000, 'Maximum number of connections of each protocol.'),
  logMiB: amount(10_240, 'Maximum size of the log; requests are refused above it.'),
}

/** The limits, with their defaults where a configuration names none. */
export type Limits = Readonly<{ [Name in keyof typeof LIMITS]: number }>

/** Limits of what is received. */
export const receivingLimits = (limits: Limits) => ({
  maxBodyBytes: limits.bodyMiB * MEBIBYTE,
  maxDecompressedBytes: limits.decompressedMiB * MEBIBYTE,
  maxReceivingBytes: limits.receivingMiB * MEBIBYTE,
  maxConnections: limits.connections,
  maxSpansPerRequest: limits.requestSpans,
  maxSpanBytes: limits.spanMiB * MEBIBYTE,
  maxLogBytes: limits.logMiB * MEBIBYTE,
})

/** Limits of what is held until it is scored. */
export const heldLimits = (limits: Limits) => ({
  maxAgeMs: limits.traceSeconds * 1000,
  maxSpansPerTrace: limits.traceSpans,
  maxBytesPerTrace: limits.traceMiB * MEBIBYTE,
  maxSpans: limits.heldSpans,
  maxContentBytes: limits.contentMiB * MEBIBYTE,
})

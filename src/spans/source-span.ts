/**
 * A span as spanscore reads it, whoever holds it: the SDK's own span object in a process (lines 1.30, 2.x and 3.x differ in
 * the names of parent and scope), or a record decoded from an OTLP file. Everything above reads this form only.
 */
export interface SourceSpan {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** 16 lower-case hex digits. */
  readonly spanId: string
  readonly parentSpanId?: string | undefined
  /** True where the parent is known to live in another process. */
  readonly parentIsRemote?: boolean | undefined
  readonly name: string
  /** OTLP span kind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  readonly scope: { readonly name: string; readonly version?: string }
  /** Values as the SDK or the file has them: strings, numbers, booleans, arrays, on SDK 3.x objects too. */
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly SourceEvent[]
  readonly status: { readonly code: 'unset' | 'ok' | 'error'; readonly message?: string }
  /** Milliseconds since the epoch, with fraction. Never used to order hooks: start times tie. */
  readonly startTimeMs: number
  readonly endTimeMs: number
  /** Where the order of the starts is known, in the process itself: decides between equal start times. */
  readonly startOrder?: number | undefined
  readonly resource: Readonly<Record<string, unknown>>
  readonly droppedAttributesCount: number
}

/** An event on a span: an exception, or content in the dialects that write it there. */
export interface SourceEvent {
  readonly name: string
  readonly timeMs: number
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A log record tied to a span: message content in the dialects that write it as log records. */
export interface SourceLog {
  readonly traceId: string
  readonly spanId: string
  /** The record's `eventName`, else its `event.name` attribute. */
  readonly eventName?: string
  readonly timeMs: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly scope: { readonly name: string; readonly version?: string }
}

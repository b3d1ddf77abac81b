/**
 * A span as spanscore reads it, wherever it comes from: the SDK's own span object in a process (lines 1.30, 2.x and 3.x differ in
 * the names of parent and scope), or a record decoded from an OTLP file. Everything above reads this form only.
 */
export interface SourceSpan {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** 16 lower-case hex digits. */
  readonly spanId: string
  /** 16 lower-case hex digits; absent where the span has no parent. */
  readonly parentSpanId?: string | undefined
  /** True where the parent is known to live in another process. */
  readonly parentIsRemote?: boolean | undefined
  /** The name that the instrumentation gave it. */
  readonly name: string
  /** OTLP span kind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  /** The instrumentation that made the span. */
  readonly scope: { readonly name: string; readonly version?: string }
  /** Values as the SDK or the file has them: strings, numbers, booleans, arrays, on SDK 3.x objects too. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** In the order in which they were added. */
  readonly events: readonly SourceEvent[]
  /** `unset` unless the instrumentation set it; the message describes an error. */
  readonly status: { readonly code: 'unset' | 'ok' | 'error'; readonly message?: string }
  /** Milliseconds since the epoch, with fraction. Never used to order hooks: start times tie. */
  readonly startTimeMs: number
  /** Milliseconds since the epoch, with fraction. */
  readonly endTimeMs: number
  /** Where the order of the starts is known, in the process itself: decides between equal start times. */
  readonly startOrder?: number | undefined
  /** Attributes of the process, such as `service.name`. */
  readonly resource: Readonly<Record<string, unknown>>
  /** Attributes that a limit of the SDK left out. */
  readonly droppedAttributesCount: number
}

/** An event on a span: an exception, or content in the dialects that write it there. */
export interface SourceEvent {
  /** `exception`, for example. */
  readonly name: string
  /** Milliseconds since the epoch, with fraction. */
  readonly timeMs: number
  /** Values as the SDK or the file has them. */
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A log record tied to a span: message content in the dialects that write it as log records. */
export interface SourceLog {
  /** 32 lower-case hex digits; `''` where the record belongs to no trace. */
  readonly traceId: string
  /** 16 lower-case hex digits; `''` where the record belongs to no span. */
  readonly spanId: string
  /** The record's `eventName`, else its `event.name` attribute. */
  readonly eventName?: string
  /** Milliseconds since the epoch, with fraction. */
  readonly timeMs: number
  /** Values as the SDK or the file has them. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** A text, or whatever value the instrumentation wrote. */
  readonly body?: unknown
  /** The instrumentation that wrote the record. */
  readonly scope: { readonly name: string; readonly version?: string }
}

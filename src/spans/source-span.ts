/**
 * A span in neutral form, from any source: the SDK's own span object (SDK 1.30, 2.x and 3.x differ in the names of parent and scope), or a
 * record decoded from an OTLP file. All other code reads this form only.
 */
export interface SourceSpan {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** 16 lower-case hex digits. */
  readonly spanId: string
  /** 16 lower-case hex digits; absent if the span has no parent. */
  readonly parentSpanId?: string | undefined
  /** Whether the parent is known to be in another process. */
  readonly parentIsRemote?: boolean | undefined
  /** The name that the instrumentation gave it. */
  readonly name: string
  /** OTLP span kind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  /** The instrumentation that created the span. */
  readonly scope: { readonly name: string; readonly version?: string }
  /** Values as in the SDK or the file: strings, numbers, booleans, arrays, and in SDK 3.x objects. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** In the order in which they were added. */
  readonly events: readonly SourceEvent[]
  /** `unset` unless the instrumentation set it; the message describes an error. */
  readonly status: { readonly code: 'unset' | 'ok' | 'error'; readonly message?: string }
  /** Milliseconds since the epoch, with a fraction. Never used to order hooks, because start times tie. */
  readonly startTimeMs: number
  /** Milliseconds since the epoch, with a fraction. */
  readonly endTimeMs: number
  /** The order of the starts, if known, as for spans of this process. It decides between equal start times. */
  readonly startOrder?: number | undefined
  /** Attributes of the process, such as `service.name`. */
  readonly resource: Readonly<Record<string, unknown>>
  /** How many attributes a limit of the SDK dropped. */
  readonly droppedAttributesCount: number
  /**
   * Attributes with JSON that were parsed already; only `jsonAttribute` uses it. It is a list on the span, because a map beside the spans
   * costs the garbage collector more than parsing.
   */
  parsed?: ParsedAttribute | undefined
}

/** The parsed value of an attribute, and the text it was parsed from. */
export interface ParsedAttribute {
  readonly key: string
  text: string
  value: unknown
  readonly next: ParsedAttribute | undefined
}

/** An event on a span: an exception, or content in some dialects. */
export interface SourceEvent {
  /** Such as `exception`. */
  readonly name: string
  /** Milliseconds since the epoch, with a fraction. */
  readonly timeMs: number
  /** Values as in the SDK or the file. */
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A log record of a span: content in some dialects. */
export interface SourceLog {
  /** 32 lower-case hex digits; `''` if the record belongs to no trace. */
  readonly traceId: string
  /** 16 lower-case hex digits; `''` if the record belongs to no span. */
  readonly spanId: string
  /** The record's `eventName`, or else its `event.name` attribute. */
  readonly eventName?: string
  /** Milliseconds since the epoch, with a fraction. */
  readonly timeMs: number
  /** Values as in the SDK or the file. */
  readonly attributes: Readonly<Record<string, unknown>>
  /** A string, or any value that the instrumentation wrote. */
  readonly body?: unknown
  /** The instrumentation that wrote the record. */
  readonly scope: { readonly name: string; readonly version?: string }
}

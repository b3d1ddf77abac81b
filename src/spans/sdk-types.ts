import type { Context, SpanContext } from '@opentelemetry/api'

import type { HighResolutionTime, SdkSpanLike } from './from-sdk-span.ts'

/** An ended span, as processors and exporters of SDK 1.30, 2.x and 3.x receive it. */
export interface EndedSpan extends SdkSpanLike {
  /** The ids and the flags of the span. */
  spanContext(): SpanContext
  /** The context of the parent; 2.x and 3.x. */
  readonly parentSpanContext?: SpanContext | undefined
  /** Links to other spans. */
  readonly links: readonly { readonly attributes?: Readonly<Record<string, unknown>> | undefined }[]
  /** Seconds and nanoseconds between start and end. */
  readonly duration: HighResolutionTime
  /** Whether the span has ended. */
  readonly ended: boolean
  /** How many attributes the limits of the SDK dropped. */
  readonly droppedAttributesCount: number
  /** How many events they dropped. */
  readonly droppedEventsCount: number
  /** How many links they dropped. */
  readonly droppedLinksCount: number
}

/** A span that is open or ending. */
export interface OpenSpan extends EndedSpan {
  /** Whether attributes can still be set. */
  isRecording(): boolean
  /** Sets an attribute. */
  setAttribute(key: string, value: string | number | boolean): unknown
}

/** A span processor of any SDK version. It is declared here because no two SDK versions can be installed side by side. */
export interface SpanProcessorLike {
  /** Called when a span has started. */
  onStart(span: OpenSpan, parentContext: Context): void
  /** Called while a span is ending and can still be written; since SDK 2.3. */
  onEnding?(span: OpenSpan): void
  /** Called when a span has ended. */
  onEnd(span: EndedSpan): void
  /** Exports what is waiting. */
  forceFlush(): Promise<void>
  /** Exports what is waiting, and ends. */
  shutdown(): Promise<void>
}

/** A tracer, meter or logger provider that can be flushed. */
export interface Flushable {
  forceFlush?(): Promise<void>
}

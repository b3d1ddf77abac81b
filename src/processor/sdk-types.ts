import type { Context, SpanContext } from '@opentelemetry/api'

import type { HighResolutionTime, SdkSpanLike } from '../spans/from-sdk-span.ts'

/** An ended span, as processors and exporters of SDK 1.30, 2.x and 3.x receive it. */
export interface EndedSpan extends SdkSpanLike {
  spanContext(): SpanContext
  readonly parentSpanContext?: SpanContext | undefined
  readonly links: readonly { readonly attributes?: Readonly<Record<string, unknown>> | undefined }[]
  readonly duration: HighResolutionTime
  readonly ended: boolean
  readonly droppedAttributesCount: number
  readonly droppedEventsCount: number
  readonly droppedLinksCount: number
}

/** A span that is open or ending. */
export interface OpenSpan extends EndedSpan {
  isRecording(): boolean
  setAttribute(key: string, value: string | number | boolean): unknown
}

/** A span processor of any SDK version. It is declared here because no two SDK versions can be installed side by side. */
export interface SpanProcessorLike {
  onStart(span: OpenSpan, parentContext: Context): void
  /** Since SDK 2.3. */
  onEnding?(span: OpenSpan): void
  onEnd(span: EndedSpan): void
  forceFlush(): Promise<void>
  shutdown(): Promise<void>
}

/** A tracer, meter or logger provider that can be flushed. */
export interface Flushable {
  forceFlush?(): Promise<void>
}

import { timeMs } from './outside-number.ts'
import type { SourceEvent, SourceSpan } from './source-span.ts'

/** Seconds and nanoseconds, as in OpenTelemetry JS. */
export type HighResolutionTime = readonly [number, number]

/** A span object of SDK 1.30, 2.x or 3.x, reduced to the properties that are read. */
export interface SdkSpanLike {
  readonly name: string
  /** The API's `SpanKind`: 0 internal, 1 server, 2 client, 3 producer, 4 consumer. */
  readonly kind: number
  spanContext(): { readonly traceId: string; readonly spanId: string; readonly traceFlags: number }
  /** 2.x and 3.x. */
  readonly parentSpanContext?: { readonly spanId: string; readonly isRemote?: boolean | undefined } | undefined
  /** 1.30. */
  readonly parentSpanId?: string | undefined
  /** 2.x and 3.x. */
  readonly instrumentationScope?: { readonly name: string; readonly version?: string | undefined } | undefined
  /** 1.30. */
  readonly instrumentationLibrary?: { readonly name: string; readonly version?: string | undefined } | undefined
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly {
    readonly name: string
    readonly time: HighResolutionTime
    readonly attributes?: Readonly<Record<string, unknown>> | undefined
  }[]
  readonly status: { readonly code: number; readonly message?: string | undefined }
  readonly startTime: HighResolutionTime
  readonly endTime: HighResolutionTime
  readonly resource: {
    readonly attributes: Readonly<Record<string, unknown>>
    readonly asyncAttributesPending?: boolean
    /** 2.x and 3.x. */
    readonly getRawAttributes?: () => readonly (readonly [string, unknown])[]
  }
  readonly droppedAttributesCount?: number
  readonly links?: readonly { readonly attributes?: Readonly<Record<string, unknown>> | undefined }[]
}

/**
 * A live view of an SDK's span in neutral form. Nothing is copied, so attributes written later by the application or a processor are
 * visible. It works before the span has ended; the end time then equals the start time.
 *
 * @param startOrder how many spans had started before it, if known
 */
export function toSourceSpan(span: SdkSpanLike, startOrder?: number): SourceSpan {
  return new SdkSourceSpan(span, startOrder)
}

/** The values that are read of an ended span: its own, or copies. */
export interface ReplacedValues {
  readonly attributes: SdkSpanLike['attributes']
  readonly events: SdkSpanLike['events']
}

/** The span that `toSourceSpan` makes. */
export class SdkSourceSpan implements SourceSpan {
  readonly traceId: string
  readonly spanId: string
  readonly startTimeMs: number
  readonly startOrder: number | undefined
  parsed: SourceSpan['parsed'] = undefined
  /** The span's own object: attributes that are written later are in it. */
  attributes: SdkSpanLike['attributes']
  readonly #span: SdkSpanLike
  #scope: SourceSpan['scope'] | undefined
  #events: SdkSpanLike['events'] | undefined

  constructor(span: SdkSpanLike, startOrder: number | undefined) {
    const context = span.spanContext()
    this.traceId = context.traceId
    this.spanId = context.spanId
    this.startTimeMs = toMilliseconds(span.startTime)
    this.startOrder = startOrder
    this.attributes = span.attributes
    this.#span = span
  }

  /** Must be called when the span has ended, with the values that are read from then on. */
  replace({ attributes, events }: ReplacedValues): void {
    this.attributes = attributes
    this.#events = events
  }

  get parentSpanId(): string | undefined {
    return this.#span.parentSpanContext?.spanId ?? this.#span.parentSpanId
  }

  get parentIsRemote(): boolean {
    return this.#span.parentSpanContext?.isRemote === true
  }

  get name(): string {
    return this.#span.name
  }

  get kind(): number {
    // The API counts kinds from 0, OTLP from 1.
    return this.#span.kind + 1
  }

  get scope(): { readonly name: string; readonly version?: string } {
    this.#scope ??= toScope(this.#span.instrumentationScope ?? this.#span.instrumentationLibrary)
    return this.#scope
  }

  get events(): readonly SourceEvent[] {
    return (this.#events ?? this.#span.events).map((event) => ({
      name: event.name,
      timeMs: toMilliseconds(event.time),
      attributes: event.attributes ?? {},
    }))
  }

  get status(): SourceSpan['status'] {
    const { code, message } = this.#span.status
    const name = code === 2 ? 'error' : code === 1 ? 'ok' : 'unset'
    return typeof message === 'string' ? { code: name, message } : { code: name }
  }

  get endTimeMs(): number {
    const endMs = toMilliseconds(this.#span.endTime)
    return endMs === 0 ? this.startTimeMs : endMs
  }

  get resource(): Readonly<Record<string, unknown>> {
    const { resource } = this.#span
    // The SDK logs an error when attributes are read before all detectors have answered. Of the raw ones, the first of a name counts.
    if (resource.asyncAttributesPending !== true || resource.getRawAttributes === undefined) return resource.attributes
    const known = resource.getRawAttributes().filter(([, value]) => !(value instanceof Promise))
    return Object.fromEntries(known.toReversed())
  }

  get droppedAttributesCount(): number {
    return this.#span.droppedAttributesCount ?? 0
  }
}

function toScope(scope: SdkSpanLike['instrumentationScope']): SourceSpan['scope'] {
  if (scope === undefined) return { name: '' }
  return scope.version === undefined ? { name: scope.name } : { name: scope.name, version: scope.version }
}

function toMilliseconds(time: HighResolutionTime): number {
  return timeMs(time[0] * 1000 + time[1] / 1e6)
}

import { SdkSourceSpan } from '../../spans/from-sdk-span.ts'
import type { SdkSpanLike } from '../../spans/from-sdk-span.ts'
import type { SpanRole } from '../../spans/dialect.ts'
import { idsInBaggage } from '../../spans/ids.ts'
import type { BaggageLike } from '../../spans/ids.ts'
import { dialectOfSdkSpan } from '../../spans/recognise.ts'
import type { SourceLog } from '../../spans/source-span.ts'
import type { EndedRun } from './ended-run.ts'
import type { TraceBuffer } from './trace-buffer.ts'
import { TracePlace } from './trace-place.ts'

/** The active span when another one starts: a span of this process, or only its ids. */
export interface ParentSpan {
  spanContext(): {
    readonly traceId: string
    readonly spanId: string
    readonly isRemote?: boolean | undefined
  }
}

/** Spans may never end. Then children do not find the oldest of them by their ids. */
const MAX_OPEN = 10_000

/**
 * The spans of this process. Each has a property that leads to its place. A span of a library that has nothing to do with agents has no place
 * of its own: it leads to that of its parent.
 */
export class ProcessSpans {
  /** A key of this instance, so that two processors of one provider do not share places. */
  readonly #key: symbol = Symbol('spanscore.place')
  readonly #buffer: TraceBuffer
  /** When it began to receive spans, in milliseconds since the epoch. */
  readonly #sinceMs: number
  /** Open spans that no dialect recognises, for children that name their parent by its ids. */
  readonly #open = new Map<string, TracePlace>()
  #started = 0

  constructor(buffer: TraceBuffer, sinceMs: number) {
    this.#buffer = buffer
    this.#sinceMs = sinceMs
  }

  /** Must be called when a span starts, with the active span and the baggage of its parent context. Returns whether it may be in a run. */
  start(span: SdkSpanLike, parent: ParentSpan | undefined, baggage?: BaggageLike): boolean {
    const parentId = span.parentSpanContext?.spanId ?? span.parentSpanId ?? ''
    const above = parentId === '' || parent === undefined ? undefined : this.#placeOfParent(span, parentId, parent)
    const dialect = above?.isSkipped === true ? 'ordinary' : dialectOfSdkSpan(span)
    // Nobody has to know a span that is never in a run: its children are its parent's.
    if (dialect === 'ordinary' && above !== undefined) {
      linked(span)[this.#key] = above
      return false
    }
    const place = this.#begin(span, parentId, above, dialect)
    if (baggage !== undefined) place.idsInBaggage = idsInBaggage(baggage)
    linked(span)[this.#key] = place
    return place.span !== undefined
  }

  /** Must be called when a span is ending. Returns the run whose agent it is. */
  ending(span: SdkSpanLike): EndedRun | undefined {
    const place = this.#own(span)
    if (place === undefined) return undefined
    if (place.span === undefined && !place.isAsked && place.isOpen && !place.isOver) {
      // Most hand-written spans get their attributes after their start.
      const dialect = dialectOfSdkSpan(span)
      if (dialect !== undefined && dialect !== 'ordinary') this.#hold(span, place, dialect)
      place.isAsked = true
    }
    // A recognised span whose trace is finished has only its role left.
    return place.span === undefined && place.role === undefined ? undefined : this.#buffer.end(place)
  }

  /** Must be called when a span has ended, after `ending`. Returns the role of a recognised span. */
  ended(span: SdkSpanLike): SpanRole | undefined {
    const place = this.#own(span)
    if (place === undefined) return undefined
    this.#open.delete(place.spanId)
    const role = place.role
    this.#buffer.ended(place, span.spanContext().traceId)
    return role
  }

  /** Whether a span is recognised, or was before its run was final. */
  isRecognised(span: SdkSpanLike): boolean {
    const place = this.#own(span)
    return place !== undefined && (place.span !== undefined || place.isOver)
  }

  /** Takes a log record in which an instrumentation wrote messages. */
  addLog(log: SourceLog): void {
    const place = this.#openPlace(log.traceId, log.spanId) ?? this.#buffer.placeOf(log.traceId, log.spanId)
    if (place !== undefined) this.#buffer.addLog(place, log)
  }

  #begin(
    span: SdkSpanLike,
    parentId: string,
    above: TracePlace | undefined,
    dialect: ReturnType<typeof dialectOfSdkSpan>,
  ): TracePlace {
    this.#started += 1
    const { spanId } = span.spanContext()
    const isRemote = above === undefined && span.parentSpanContext?.isRemote === true
    const place = new TracePlace({ spanId, parentId, isRemote }, above, span, this.#started)
    if (dialect === undefined || dialect === 'ordinary') {
      this.#open.set(spanId, place)
      if (this.#open.size > MAX_OPEN) for (const oldest of this.#open.keys()) return this.#drop(oldest, place)
    } else this.#hold(span, place, dialect)
    return place
  }

  #drop(oldest: string, place: TracePlace): TracePlace {
    this.#open.delete(oldest)
    return place
  }

  #hold(
    span: SdkSpanLike,
    place: TracePlace,
    dialect: Exclude<ReturnType<typeof dialectOfSdkSpan>, 'ordinary' | undefined>,
  ): void {
    this.#buffer.hold(place, new SdkSourceSpan(span, place.startOrder), dialect)
  }

  /** The place of a span, if it has one of its own. */
  #own(span: SdkSpanLike): TracePlace | undefined {
    const place = linked(span)[this.#key]
    return place?.sdk === span ? place : undefined
  }

  #placeOfParent(span: SdkSpanLike, parentId: string, parent: ParentSpan): TracePlace | undefined {
    const known = linked(parent)[this.#key]
    if (known !== undefined) return known
    const { traceId } = span.spanContext()
    return this.#openPlace(traceId, parentId) ?? this.#buffer.placeOf(traceId, parentId) ?? this.#unseen(parent)
  }

  #openPlace(traceId: string, spanId: string): TracePlace | undefined {
    const place = this.#open.get(spanId)
    return place?.sdk?.spanContext().traceId === traceId ? place : undefined
  }

  /** The place of a recognised span that started before there was a buffer. Its run lacks spans. */
  #unseen(parent: ParentSpan): TracePlace | undefined {
    if (!isSdkSpan(parent) || parent.startTime[0] * 1000 + parent.startTime[1] / 1e6 >= this.#sinceMs) return undefined
    const dialect = dialectOfSdkSpan(parent)
    if (dialect === undefined || dialect === 'ordinary') return undefined
    const place = this.#begin(parent, '', undefined, dialect)
    linked(parent)[this.#key] = place
    if (place.span !== undefined) place.span.isTruncated = true
    return place
  }
}

function linked(span: object): Record<symbol, TracePlace | undefined> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a property of our own on someone else's object
  return span as Record<symbol, TracePlace | undefined>
}

/** Whether this is an SDK's own span, and not just a span context. */
function isSdkSpan<Span extends object>(span: Span): span is Span & SdkSpanLike {
  if (!('startTime' in span) || !('attributes' in span)) return false
  return Array.isArray(span.startTime) && typeof span.attributes === 'object' && span.attributes !== null
}

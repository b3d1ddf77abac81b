import type { ScoreAttributes } from '../../emit/score-attributes.ts'
import { eventWithoutContent, linkWithoutContent, withoutContent, withoutMessage } from './strip-content.ts'
import { replaceScoreAttributes } from './replace-score-attributes.ts'
import type { Dialect } from '../../spans/dialect.ts'
import { recognise } from '../../spans/recognise.ts'
import type { EndedSpan } from '../sdk-types.ts'

/** What a view changes about its span. */
export interface ViewChanges {
  /** Attributes that are added. */
  readonly scores?: ScoreAttributes
  /** Whether message and tool content is left out. */
  readonly stripContent: boolean
}

/**
 * An ended span as the processors behind get it: the span itself where nothing is to be changed, else a view of it. The
 * original is never written, since processors beside us hold the same object.
 *
 * What cannot be read of the span is left out, so that nothing which should be removed goes on, and the span itself does.
 * Every property that the SDK's `ReadableSpan` has is the view's own, so that processors which write to spans (there are
 * some) write to the view; whatever else they look for is found on the original.
 */
export function viewOf(span: EndedSpan, { scores, stripContent }: ViewChanges): EndedSpan {
  if (!stripContent && (scores === undefined || Object.keys(scores).length === 0)) return span
  const attributes = read(
    () => (stripContent ? withoutContent(span.attributes, dialectOf(span)) : { ...span.attributes }),
    {},
  )
  if (scores !== undefined) replaceScoreAttributes(attributes, scores)
  const context = read(() => span.spanContext(), undefined)
  const values: Record<keyof EndedSpan | 'isRecording', unknown> = {
    name: read(() => span.name, undefined),
    kind: read(() => span.kind, undefined),
    spanContext: context && (() => context),
    isRecording: () => false,
    parentSpanContext: read(() => span.parentSpanContext, undefined),
    parentSpanId: read(() => span.parentSpanId, undefined),
    startTime: read(() => span.startTime, undefined),
    endTime: read(() => span.endTime, undefined),
    status: read(() => (stripContent ? withoutMessage(span.status) : span.status), { code: 0 }),
    attributes,
    links: read(() => (stripContent ? span.links.map(linkWithoutContent) : span.links), []),
    events: read(() => (stripContent ? span.events.map(eventWithoutContent) : span.events), []),
    duration: read(() => span.duration, undefined),
    ended: read(() => span.ended, undefined),
    resource: read(() => span.resource, undefined),
    instrumentationScope: read(() => span.instrumentationScope, undefined),
    instrumentationLibrary: read(() => span.instrumentationLibrary, undefined),
    droppedAttributesCount: read(() => span.droppedAttributesCount, undefined),
    droppedEventsCount: read(() => span.droppedEventsCount, undefined),
    droppedLinksCount: read(() => span.droppedLinksCount, undefined),
  }
  const view: EndedSpan = Object.create(span)
  for (const [name, value] of Object.entries(values)) {
    // What the span's SDK line does not have (1.30 and 2.x name parent and scope differently) the view does not have either.
    if (value === undefined) continue
    Object.defineProperty(view, name, { value, writable: true, enumerable: true, configurable: true })
  }
  return view
}

/** What is read of a span, which may be anything that the application's own code has made of it. */
function read<T>(property: () => T, otherwise: T): T {
  try {
    return property()
  } catch {
    return otherwise
  }
}

function dialectOf(span: EndedSpan): Dialect | undefined {
  const scope = span.instrumentationScope ?? span.instrumentationLibrary
  return recognise(scope?.name ?? '', span.attributes, span.name)
}

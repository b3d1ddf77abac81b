import type { ScoreAttributes } from '../../attributes/attribute-table.ts'
import {
  eventWithoutContent,
  linkWithoutContent,
  nameWithoutContent,
  withoutContent,
  withoutMessage,
} from '../../spans/strip-content.ts'
import { replaceScoreAttributes } from './replace-score-attributes.ts'
import type { Dialect } from '../../spans/dialect.ts'
import { recognise } from '../../spans/recognise.ts'
import { isLateSpan } from '../own-work.ts'
import type { EndedSpan } from '../../spans/sdk-types.ts'

/** How a view differs from its span. */
export interface ViewChanges {
  /** Attributes to add. */
  readonly scores?: ScoreAttributes
  /** Whether to remove message and tool content. */
  readonly stripContent: boolean
}

/**
 * An ended span as handed to the processors behind: the span itself if nothing changes, or else a view of it. The original is never
 * changed, because processors beside us hold the same object.
 *
 * The view has its own copy of every property of the SDK's `ReadableSpan`, because some processors write to spans; all other properties are
 * read from the original.
 */
export function viewOf(span: EndedSpan, { scores, stripContent: isStripping }: ViewChanges): EndedSpan {
  // The explanation of a late score was written without content.
  const stripContent = isStripping && !isLateSpan(span)
  if (!stripContent && (scores === undefined || Object.keys(scores).length === 0)) return span
  const dialect = stripContent ? dialectOf(span) : undefined
  const attributes = stripContent ? withoutContent(span.attributes, dialect) : { ...span.attributes }
  if (scores !== undefined) replaceScoreAttributes(attributes, scores)
  const context = span.spanContext()
  const values: Record<keyof EndedSpan | 'isRecording', unknown> = {
    name: stripContent ? nameWithoutContent(span.name, span.attributes, attributes) : span.name,
    kind: span.kind,
    spanContext: () => context,
    isRecording: () => false,
    parentSpanContext: span.parentSpanContext,
    parentSpanId: span.parentSpanId,
    startTime: span.startTime,
    endTime: span.endTime,
    status: stripContent ? withoutMessage(span.status) : span.status,
    attributes,
    links: stripContent ? span.links.map(linkWithoutContent) : span.links,
    events: stripContent ? span.events.map((event) => eventWithoutContent(event, dialect)) : span.events,
    duration: span.duration,
    ended: span.ended,
    resource: span.resource,
    instrumentationScope: span.instrumentationScope,
    instrumentationLibrary: span.instrumentationLibrary,
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount,
    droppedLinksCount: span.droppedLinksCount,
  }
  const view: EndedSpan = Object.create(span)
  for (const [name, value] of Object.entries(values)) {
    // The view lacks what the span's SDK version lacks: 1.30 and 2.x name parent and scope differently.
    if (value === undefined) continue
    Object.defineProperty(view, name, { value, writable: true, enumerable: true, configurable: true })
  }
  return view
}

function dialectOf(span: EndedSpan): Dialect | undefined {
  const scope = span.instrumentationScope ?? span.instrumentationLibrary
  return recognise(scope?.name ?? '', span.attributes, span.name)
}

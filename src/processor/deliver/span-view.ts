import type { ScoreAttributes } from '../../emit/score-attributes.ts'
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
 * Properties that cannot be read are left out, so that content is never exposed by an error, and the span is still exported. The view has
 * its own copy of every property of the SDK's `ReadableSpan`, because some processors write to spans; all other properties are read from
 * the original.
 */
export function viewOf(span: EndedSpan, { scores, stripContent: isStripping }: ViewChanges): EndedSpan {
  // The explanation of a late score was written without content.
  const stripContent = isStripping && !read(() => isLateSpan(span), false)
  if (!stripContent && (scores === undefined || Object.keys(scores).length === 0)) return span
  const dialect = stripContent ? read(() => dialectOf(span), undefined) : undefined
  const attributes = read(() => (stripContent ? withoutContent(span.attributes, dialect) : { ...span.attributes }), {})
  if (scores !== undefined) replaceScoreAttributes(attributes, scores)
  const context = read(() => span.spanContext(), undefined)
  const values: Record<keyof EndedSpan | 'isRecording', unknown> = {
    name: read(() => (stripContent ? nameWithoutContent(span.name, span.attributes, attributes) : span.name), 'span'),
    kind: read(() => span.kind, undefined),
    spanContext: context && (() => context),
    isRecording: () => false,
    parentSpanContext: read(() => span.parentSpanContext, undefined),
    parentSpanId: read(() => span.parentSpanId, undefined),
    startTime: read(() => span.startTime, undefined),
    endTime: read(() => span.endTime, undefined),
    status: read(() => (stripContent ? withoutMessage(span.status) : span.status), { code: 0 }),
    attributes,
    links: read(() => (stripContent ? mapped(span.links, linkWithoutContent) : span.links), []),
    events: read(
      () => (stripContent ? mapped(span.events, (event) => eventWithoutContent(event, dialect)) : span.events),
      [],
    ),
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
    // The view lacks what the span's SDK version lacks: 1.30 and 2.x name parent and scope differently.
    if (value === undefined) continue
    Object.defineProperty(view, name, { value, writable: true, enumerable: true, configurable: true })
  }
  return view
}

/** No SDK is configured to keep as many events or links of a span: a list with more of them is longer than what it holds. */
const MOST_ITEMS = 1_000_000

/** Like `items.map(change)`. A list without an end throws, so that it is left out. */
function mapped<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  if (items.length > MOST_ITEMS) throw new RangeError('expected fewer items')
  return items.map(change)
}

/** Reads a span's property. The application's code may have changed the span in any way. */
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

import type { SourceLog } from 'spanscore/engine'

import type { RecordBytes } from '../log/span-log.ts'
import type { DueItem } from './due-times.ts'
import type { HeldBytes } from './span-content.ts'
import type { SpanFacts } from './span-facts.ts'

/** A log record of a held span. */
export interface HeldLog extends HeldBytes {
  /** Its record of the log, and its index in it. */
  readonly offset: number
  readonly index: number
  readonly scope: SourceLog['scope']
}

/** A span of an unfinished trace. */
export interface HeldSpan extends HeldBytes, Omit<SpanFacts, 'traceId'> {
  /** Its service and process: the times of two spans with the same sender are by the same clock. */
  readonly sender: string
  /** Its record of the log, and its index in it. */
  readonly offset: number
  readonly index: number
  /** Whether the scores of a run with this span were acknowledged. */
  isEmitted: boolean
  logs: HeldLog[] | undefined
  parent: HeldSpan | undefined
  /** Children are a linked list, because most spans have few; the latest comes first. */
  firstChild: HeldSpan | undefined
  nextSibling: HeldSpan | undefined
  /** Its outermost ancestor at the latest look, if any, and the outermost agent from the span itself up to below that ancestor. */
  leap: HeldSpan | undefined
  leapAnchor: HeldSpan | undefined
  /** The unit whose outermost span it is. */
  unit: RunUnit | undefined
}

/**
 * The spans that are settled together: an outermost agent with everything below it, or, without an agent, spans that are connected by their
 * parents.
 */
export interface RunUnit extends DueItem {
  readonly traceId: string
  /** The outermost span that has arrived. */
  top: HeldSpan
  spans: HeldSpan[]
  /** Time of the log when its latest span arrived. */
  lastSeenMs: number
  /** Time of the log when its first span arrived. */
  firstSeenMs: number
  /** `settling` while its runs are being scored, `emitted` once their scores were acknowledged. */
  state: 'open' | 'settling' | 'emitted' | 'finished'
  /** Time of the log until which it waits for late spans, once its scores were acknowledged. */
  lingersUntilMs: number
  /** The number of its recognised spans. */
  recognised: number
}

/** The position of a span on the log. */
export interface SpanPlace {
  readonly offset: number
  readonly index: number
}

/** Creates a span that is not placed yet. */
export function toHeldSpan(facts: SpanFacts, { offset, index }: SpanPlace, { places }: RecordBytes): HeldSpan {
  return {
    body: undefined,
    start: places[2 * index] ?? 0,
    end: places[2 * index + 1] ?? 0,
    spanId: facts.spanId,
    parentSpanId: facts.parentSpanId,
    parentIsRemote: facts.parentIsRemote,
    isAnchor: facts.isAnchor,
    isRecognised: facts.isRecognised,
    isFlat: facts.isFlat,
    startTimeMs: facts.startTimeMs,
    endTimeMs: facts.endTimeMs,
    sender: senderOf(facts.resource),
    resource: facts.resource,
    scope: facts.scope,
    offset,
    index,
    isEmitted: false,
    logs: undefined,
    parent: undefined,
    firstChild: undefined,
    nextSibling: undefined,
    leap: undefined,
    leapAnchor: undefined,
    unit: undefined,
  }
}

/** The children of a span. */
export function* childrenOf(span: HeldSpan): Iterable<HeldSpan> {
  for (let child = span.firstChild; child !== undefined; child = child.nextSibling) yield child
}

/**
 * The outermost agent above a span, including the span itself; without one, its outermost ancestor. What is found is kept for the spans on the
 * way, so that each of thousands of nested spans does not climb through all above it.
 */
export function anchorOf(span: HeldSpan): HeldSpan {
  const top = topOf(span)
  if (top.isAnchor || top === span) return top
  return span.leapAnchor ?? top
}

/** The outermost ancestor of a span. */
export function topOf(span: HeldSpan): HeldSpan {
  let top = span
  const path: HeldSpan[] = []
  for (let above = aboveOf(span); above !== undefined; above = aboveOf(above)) {
    path.push(top)
    top = above
  }
  let anchor: HeldSpan | undefined
  for (const each of path.toReversed()) {
    anchor ??= each.leap === undefined ? anchorIn(each) : each.leapAnchor
    each.leap = top
    each.leapAnchor = anchor
  }
  return top
}

function aboveOf({ leap, parent }: HeldSpan): HeldSpan | undefined {
  return leap ?? parent
}

function anchorIn(span: HeldSpan): HeldSpan | undefined {
  return span.isAnchor ? span : undefined
}

/** The spans of a request share one resource object. */
const senders = new WeakMap<object, string>()

function senderOf(resource: Readonly<Record<string, unknown>>): string {
  const known = senders.get(resource)
  if (known !== undefined) return known
  const sender = ['service.namespace', 'service.name', 'service.instance.id', 'host.name', 'process.pid']
    .map((name) => JSON.stringify(resource[name]) ?? '')
    .join('\u0000')
  senders.set(resource, sender)
  return sender
}

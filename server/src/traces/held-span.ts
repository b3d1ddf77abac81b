import { recognise, roleOf } from 'spanscore/engine'
import type { SourceLog, SourceSpan } from 'spanscore/engine'

import type { RunUnit } from './run-unit.ts'

/** A log record of a span that is held. */
export interface HeldLog {
  /** The record of the log that holds it, and its place in there. */
  readonly offset: number
  readonly index: number
  /** `undefined` where only the log holds it. */
  content: SourceLog | undefined
}

/** A span of a trace that is not finished. */
export interface HeldSpan {
  readonly spanId: string
  readonly parentSpanId: string | undefined
  /** Whether it can be the outermost span of a run: an agent, or a workflow that may turn out to be one. */
  readonly isAnchor: boolean
  /** Whether a dialect recognised it. Other spans only connect their children to what is above them. */
  readonly isRecognised: boolean
  /** Whether the library writes the spans of a run side by side, so that parents do not show what belongs together. */
  readonly isFlat: boolean
  readonly startTimeMs: number
  readonly endTimeMs: number
  /** The service and process that sent it: two spans with the same one were timed by the same clock. */
  readonly sender: string
  /** The record of the log that holds it, and its place in there. */
  readonly offset: number
  readonly index: number
  /** What its content takes in memory, as an estimate in bytes. */
  readonly bytes: number
  /** Whether the scores of a run with this span were acknowledged. */
  isEmitted: boolean
  /** What was read of it; `undefined` where only the log holds it. */
  source: SourceSpan | undefined
  logs: HeldLog[] | undefined
  parent: HeldSpan | undefined
  children: HeldSpan[] | undefined
  /** The unit that it is the outermost span of. */
  unit: RunUnit | undefined
}

/** Where a span is on the log. */
export interface SpanPlace {
  readonly offset: number
  readonly index: number
}

/** Reads what placing a span needs. A span that no dialect recognises keeps its place in the trace and nothing else. */
export function toHeldSpan(source: SourceSpan, { offset, index }: SpanPlace): HeldSpan {
  const dialect = recognise(source.scope.name, source.attributes, source.name)
  const role = dialect === undefined ? undefined : roleOf(dialect, source)
  return {
    spanId: source.spanId,
    parentSpanId: source.parentSpanId,
    isAnchor: role === 'agent' || role === 'entry',
    isRecognised: dialect !== undefined,
    isFlat: isFlat(dialect, source),
    startTimeMs: source.startTimeMs,
    endTimeMs: source.endTimeMs,
    sender: senderOf(source.resource),
    offset,
    index,
    bytes: dialect === undefined ? BARE_BYTES : bytesOf(source),
    isEmitted: false,
    source: contentOf(source, dialect !== undefined),
    logs: undefined,
    parent: undefined,
    children: undefined,
    unit: undefined,
  }
}

/** What is kept of a span in memory until it is scored. */
export function contentOf(source: SourceSpan, isRecognised: boolean): SourceSpan {
  return isRecognised ? source : bareSpan(source)
}

/** The outermost agent above a span, the span itself included; where there is none, the outermost span that is there. */
export function anchorOf(span: HeldSpan, maxDepth: number): HeldSpan {
  let anchor: HeldSpan | undefined
  let current = span
  // A trace whose parents form a circle ends the walk as well.
  for (let depth = 0; depth <= maxDepth; depth++) {
    if (current.isAnchor) anchor = current
    if (current.parent === undefined) break
    current = current.parent
  }
  return anchor ?? current
}

function isFlat(dialect: ReturnType<typeof recognise>, source: SourceSpan): boolean {
  try {
    return dialect?.isFlat?.(source) === true
  } catch {
    return false
  }
}

const NOTHING = {}

/** What the object of a span takes beside its texts: measured as about 600 bytes for one with twenty attributes. */
const SPAN_BYTES = 600
const BARE_BYTES = 200

function bytesOf({ attributes, events }: SourceSpan): number {
  let bytes = SPAN_BYTES + textBytes(attributes)
  for (const event of events) bytes += textBytes(event.attributes)
  return bytes
}

/** Structured values are rare, and are counted as if they were small. */
function textBytes(attributes: Readonly<Record<string, unknown>>): number {
  let bytes = 0
  // oxlint-disable-next-line eslint/guard-for-in -- attributes are plain objects, and this loop makes no array
  for (const key in attributes) {
    const value = attributes[key]
    if (typeof value === 'string') bytes += value.length
  }
  return bytes
}

function bareSpan({ traceId, spanId, parentSpanId, name, kind, startTimeMs, endTimeMs }: SourceSpan): SourceSpan {
  return {
    traceId,
    spanId,
    parentSpanId,
    name,
    kind,
    startTimeMs,
    endTimeMs,
    scope: { name: '' },
    attributes: NOTHING,
    events: [],
    status: { code: 'unset' },
    resource: NOTHING,
    droppedAttributesCount: 0,
  }
}

/** The spans of a request share the object of their resource. */
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

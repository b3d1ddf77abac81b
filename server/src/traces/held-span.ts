import { recognise, roleOf } from 'spanscore/engine'
import type { SourceLog, SourceSpan } from 'spanscore/engine'

import type { SpanBytes } from '../log/span-log.ts'
import type { RunUnit } from './run-unit.ts'
import { bareSpan, contentBytes } from './span-content.ts'
import type { SpanContent } from './span-content.ts'

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
  /** `undefined` where only the log holds it. */
  content: SpanContent | undefined
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

/**
 * Reads what placing a span needs.
 *
 * @param bytes Where its bytes are, so that they are held in place of what was read.
 */
export function toHeldSpan(source: SourceSpan, { offset, index }: SpanPlace, bytes: SpanBytes | undefined): HeldSpan {
  const dialect = recognise(source.scope.name, source.attributes, source.name)
  const role = dialect === undefined ? undefined : roleOf(dialect, source)
  const content = contentOf(source, dialect !== undefined, index, bytes)
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
    bytes: contentBytes(content),
    isEmitted: false,
    content,
    logs: undefined,
    parent: undefined,
    children: undefined,
    unit: undefined,
  }
}

function contentOf(
  source: SourceSpan,
  isRecognised: boolean,
  index: number,
  bytes: SpanBytes | undefined,
): SpanContent {
  const start = bytes?.places[2 * index]
  const end = bytes?.places[2 * index + 1]
  if (bytes === undefined || start === undefined || end === undefined) return isRecognised ? source : bareSpan(source)
  const { resource, scope } = source
  return { body: bytes.body, start, end, resource, scope }
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

import { recognise, roleOf } from 'spanscore/engine'
import type { SourceLog, SourceSpan } from 'spanscore/engine'

import type { RunUnit } from './run-unit.ts'

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
  /** The record of the log that holds it. */
  readonly offset: number
  /** What was read of it; `undefined` once its run has been scored, when only the log holds it. */
  source: SourceSpan | undefined
  logs: SourceLog[] | undefined
  parent: HeldSpan | undefined
  children: HeldSpan[] | undefined
  /** The unit that it is the outermost span of. */
  unit: RunUnit | undefined
}

/** Reads what placing a span needs. A span that no dialect recognises keeps its place in the trace and nothing else. */
export function toHeldSpan(source: SourceSpan, offset: number): HeldSpan {
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
    source: dialect === undefined ? bareSpan(source) : source,
    logs: undefined,
    parent: undefined,
    children: undefined,
    unit: undefined,
  }
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

function senderOf(resource: Readonly<Record<string, unknown>>): string {
  return ['service.namespace', 'service.name', 'service.instance.id', 'host.name', 'process.pid']
    .map((name) => JSON.stringify(resource[name]) ?? '')
    .join('\u0000')
}

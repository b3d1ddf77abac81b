import type { DueItem } from './due-times.ts'
import { childrenOf, topOf } from './held-span.ts'
import type { HeldLog, HeldSpan, RunUnit } from './held-span.ts'

import type { LooseUnits } from './loose-units.ts'
import { heldSize } from './span-content.ts'

/** The unfinished spans of a trace. */
export interface HeldTrace extends DueItem {
  readonly traceId: string
  readonly spans: Map<string, HeldSpan>
  /** Spans whose parent has not arrived, by the parent's id. */
  readonly waiting: Map<string, Set<HeldSpan>>
  /** Log records that arrived before their span. */
  readonly looseLogs: Map<string, HeldLog[]>
  readonly units: Set<RunUnit>
  /** Estimated bytes of its content in memory, or if it were in memory. */
  bytes: number
  isFlat: boolean
  lacksSpans: boolean
  /** When its latest span or log record arrived. */
  lastSeenMs: number
  /** The units that wait for a parent; `undefined` if they have to be found out again. */
  loose: LooseUnits | undefined
  /** Whether a parent arrived after its children, so that units may have to be merged. */
  isChanged: boolean
}

/** Creates an empty trace. */
export function createTrace(traceId: string): HeldTrace {
  return {
    dueSlot: undefined,
    traceId,
    spans: new Map(),
    waiting: new Map(),
    looseLogs: new Map(),
    units: new Set(),
    bytes: 0,
    isFlat: false,
    lacksSpans: false,
    lastSeenMs: 0,
    loose: undefined,
    isChanged: false,
  }
}

/** Connects a new span to its parent and its children, as far as they have arrived. */
export function connect(trace: HeldTrace, span: HeldSpan): void {
  const { parentSpanId } = span
  if (parentSpanId !== undefined) {
    const parent = trace.spans.get(parentSpanId)
    if (parent === undefined || parent === span) addWaiting(trace, parentSpanId, span)
    else adopt(parent, span)
  }
  const children = trace.waiting.get(span.spanId)
  if (children === undefined) return
  trace.waiting.delete(span.spanId)
  for (const child of children) {
    // In a cycle of parents, one of them waits for its parent, like a span that is its own.
    if (topOf(span) === child) addWaiting(trace, span.spanId, child)
    else adopt(span, child)
  }
  trace.isChanged = true
}

/** Removes a span from its trace. */
export function disconnect(trace: HeldTrace, span: HeldSpan): void {
  trace.spans.delete(span.spanId)
  trace.bytes -= heldSize(span)
  for (const child of childrenOf(span)) {
    child.parent = undefined
    child.leap = undefined
    child.leapAnchor = undefined
  }
  // Spans further below may still have a reference to this one.
  span.firstChild = undefined
  if (span.parent !== undefined || span.parentSpanId === undefined) return
  const waiting = trace.waiting.get(span.parentSpanId)
  waiting?.delete(span)
  if (waiting?.size === 0) trace.waiting.delete(span.parentSpanId)
}

/** The list of a key, which is created if missing. */
export function listIn<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key)
  if (list !== undefined) return list
  const created: T[] = []
  map.set(key, created)
  return created
}

function addWaiting({ waiting }: HeldTrace, parentSpanId: string, span: HeldSpan): void {
  const others = waiting.get(parentSpanId)
  if (others === undefined) waiting.set(parentSpanId, new Set([span]))
  else others.add(span)
}

function adopt(parent: HeldSpan, child: HeldSpan): void {
  child.parent = parent
  child.nextSibling = parent.firstChild
  parent.firstChild = child
}

import type { DueItem } from './due-times.ts'
import { childrenOf } from './held-span.ts'
import type { HeldLog, HeldSpan, RunUnit } from './held-span.ts'

import { heldSize } from './span-content.ts'

/** The unfinished spans of a trace. */
export interface HeldTrace extends DueItem {
  readonly traceId: string
  readonly spans: Map<string, HeldSpan>
  /** Spans whose parent has not arrived, by the parent's id. */
  readonly waiting: Map<string, HeldSpan[]>
  /** Log records that arrived before their span. */
  readonly looseLogs: Map<string, HeldLog[]>
  readonly units: Set<RunUnit>
  /** Estimated bytes of its content in memory, or if it were in memory. */
  bytes: number
  isFlat: boolean
  lacksSpans: boolean
  /** When the latest span arrived that waits for its parent or is below one; `undefined` if that has to be found out again. */
  looseSeenMs: number | undefined
  /** The outermost spans of units that wait for a parent; `undefined` if they have to be found out again. */
  looseTops: readonly HeldSpan[] | undefined
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
    looseSeenMs: undefined,
    looseTops: undefined,
    isChanged: false,
  }
}

/** Connects a new span to its parent and its children, as far as they have arrived. */
export function connect(trace: HeldTrace, span: HeldSpan): void {
  const { parentSpanId } = span
  if (parentSpanId !== undefined) {
    const parent = trace.spans.get(parentSpanId)
    if (parent === undefined || parent === span) listIn(trace.waiting, parentSpanId).push(span)
    else adopt(parent, span)
  }
  const children = trace.waiting.get(span.spanId)
  if (children === undefined) return
  trace.waiting.delete(span.spanId)
  for (const child of children) if (child !== span) adopt(span, child)
  trace.isChanged = true
}

/** Removes a span from its trace. */
export function disconnect(trace: HeldTrace, span: HeldSpan): void {
  trace.spans.delete(span.spanId)
  trace.bytes -= heldSize(span)
  for (const child of childrenOf(span)) child.parent = undefined
  if (span.parent !== undefined || span.parentSpanId === undefined) return
  const rest = trace.waiting.get(span.parentSpanId)?.filter((other) => other !== span) ?? []
  if (rest.length === 0) trace.waiting.delete(span.parentSpanId)
  else trace.waiting.set(span.parentSpanId, rest)
}

/** The list of a key, which is created if missing. */
export function listIn<T>(map: Map<string, T[]>, key: string): T[] {
  const list = map.get(key)
  if (list !== undefined) return list
  const created: T[] = []
  map.set(key, created)
  return created
}

function adopt(parent: HeldSpan, child: HeldSpan): void {
  child.parent = parent
  child.nextSibling = parent.firstChild
  parent.firstChild = child
}

import { dialectsWithoutScopes, dialectWithoutScope } from '../../spans/lost-scopes.ts'
import { recognise, roleOf } from '../../spans/recognise.ts'
import { isRedactionMark } from '../../spans/redaction-mark.ts'
import type { SourceLog, SourceSpan } from '../../spans/source-span.ts'
import { TraceSpan } from '../trace-span.ts'

/**
 * Links each recognised span of one recorded trace to its nearest recognised ancestor, skipping spans that no dialect recognises. If a span
 * was recorded several times, the last record counts.
 *
 * @param logs log records of the trace, by span id
 */
export function linkRecorded(
  spans: readonly SourceSpan[],
  logs: ReadonlyMap<string, readonly SourceLog[]>,
): readonly TraceSpan[] {
  const linked: TraceSpan[] = []
  const recognised = new Map<string, TraceSpan>()
  const others = new Map<string, SourceSpan>()
  const withoutScopes = dialectsWithoutScopes(spans)
  for (const span of spans) {
    const general = recognise(span.scope.name, span.attributes, span.name)
    const dialect = general && dialectWithoutScope(span, general, withoutScopes)
    if (dialect === undefined) {
      others.set(span.spanId, span)
      continue
    }
    const traceSpan = new TraceSpan(span, dialect, roleOf(dialect, span), logs.get(span.spanId))
    linked.push(traceSpan)
    recognised.set(span.spanId, traceSpan)
  }
  if (recognised.size + others.size < spans.length || share(others, recognised)) {
    return linkRecorded(withoutCopies(spans), logs)
  }
  const found = new Map<string, Ancestor>()
  for (const span of linked) link(span, { recognised, others, found })
  for (const { role, parent, dialect } of linked) {
    if (role === 'entry' && parent?.role === 'model' && dialect.modelsEncloseLoops === true) parent.role = 'entry'
  }
  return linked
}

/** Whether one record of a span was recognised and another was not. */
function share(others: ReadonlyMap<string, unknown>, recognised: ReadonlyMap<string, unknown>): boolean {
  for (const id of others.keys()) if (recognised.has(id)) return true
  return false
}

/** Keeps one record of each span: the last one, or of several that end at the same time the one that holds most. */
function withoutCopies(spans: readonly SourceSpan[]): readonly SourceSpan[] {
  const byId = new Map<string, { readonly span: SourceSpan; readonly held: readonly number[] }>()
  for (const span of spans) {
    const other = byId.get(span.spanId)
    const held = heldBy(span)
    if (other === undefined || compareCopies(held, other.held) > 0) byId.set(span.spanId, { span, held })
  }
  return [...byId.values()].map(({ span }) => span)
}

function compareCopies(left: readonly number[], right: readonly number[]): number {
  for (const [index, value] of left.entries()) {
    const difference = value - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * What decides which of two records of one span to keep: its end, how many values it has that nobody hid, on its events too, and how much text
 * they are. One of two exporters may remove, replace or cut content.
 */
function heldBy({ endTimeMs, attributes, events }: SourceSpan): readonly number[] {
  let values = 0
  let length = 0
  const add = (record: Readonly<Record<string, unknown>>): void => {
    for (const key in record) {
      const value = record[key]
      if (isRedactionMark(value)) continue
      values += 1
      if (typeof value === 'string') length += value.length
    }
  }
  add(attributes)
  for (const event of events) add(event.attributes)
  return [endTimeMs, values, length]
}

/** What is above a span. */
interface Ancestor {
  /** The nearest recognised ancestor. */
  readonly parent: TraceSpan | undefined
  readonly topId: string
  readonly isOrphan: boolean
}

/** The spans of a trace, by id. */
interface SpansById {
  readonly recognised: ReadonlyMap<string, TraceSpan>
  readonly others: ReadonlyMap<string, SourceSpan>
  /** What was found above some of the others. Otherwise each of thousands of nested spans would climb through all above it. */
  readonly found: Map<string, Ancestor>
}

/** Finds the nearest recognised ancestor. A cycle ends the search. */
function link(span: TraceSpan, { recognised, others, found }: SpansById): void {
  let { parentSpanId: id, parentIsRemote = false } = span.span
  let topId = id ?? ''
  let passed: Set<string> | undefined
  const settle = (ancestor: Ancestor): void => {
    span.link(ancestor.parent, ancestor.topId, ancestor.isOrphan)
    passed?.forEach((each) => found.set(each, ancestor))
  }
  while (id !== undefined && id !== '' && passed?.has(id) !== true && id !== span.span.spanId) {
    const known = found.get(id)
    // Where it is its own ancestor, the search ends before it.
    if (known !== undefined && known.parent !== span) {
      settle(known)
      return
    }
    topId = id
    const parent = recognised.get(id)
    const other = others.get(id)
    if (parent !== undefined || other === undefined) {
      settle({ parent, topId, isOrphan: parent === undefined && !parentIsRemote })
      return
    }
    passed ??= new Set()
    passed.add(id)
    parentIsRemote = other.parentIsRemote === true
    id = other.parentSpanId
  }
  // In a cycle, what is found depends on where the search begins.
  const isOutermost = id === undefined || id === ''
  if (isOutermost) settle({ parent: undefined, topId, isOrphan: false })
  else span.link(undefined, topId, false)
}

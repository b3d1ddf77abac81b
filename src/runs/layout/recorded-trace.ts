import { dialectsWithoutScopes, dialectWithoutScope } from '../../spans/lost-scopes.ts'
import { recognise, roleOf } from '../../spans/recognise.ts'
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
  for (const span of linked) link(span, recognised, others)
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

/** Keeps one record of each span. */
function withoutCopies(spans: readonly SourceSpan[]): readonly SourceSpan[] {
  const byId = new Map<string, SourceSpan>()
  for (const span of spans) {
    const other = byId.get(span.spanId)
    if (other === undefined || compareCopies(span, other) > 0) byId.set(span.spanId, span)
  }
  return [...byId.values()]
}

/** Decides which of two records of one span to keep: the later one, then the one with more attributes. */
function compareCopies(left: SourceSpan, right: SourceSpan): number {
  return left.endTimeMs - right.endTimeMs || Object.keys(left.attributes).length - Object.keys(right.attributes).length
}

/** Finds the nearest recognised ancestor. A cycle ends the search. */
function link(
  span: TraceSpan,
  recognised: ReadonlyMap<string, TraceSpan>,
  others: ReadonlyMap<string, SourceSpan>,
): void {
  let { parentSpanId: id, parentIsRemote = false } = span.span
  let topId = id ?? ''
  let passed: Set<string> | undefined
  while (id !== undefined && id !== '' && passed?.has(id) !== true && id !== span.span.spanId) {
    topId = id
    const parent = recognised.get(id)
    const other = others.get(id)
    if (parent !== undefined || other === undefined) {
      span.link(parent, topId, parent === undefined && !parentIsRemote)
      return
    }
    passed ??= new Set()
    passed.add(id)
    parentIsRemote = other.parentIsRemote === true
    id = other.parentSpanId
  }
  span.link(undefined, topId, false)
}

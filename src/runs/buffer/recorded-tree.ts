import { dialectsWithoutScopes, dialectWithoutScope } from '../../spans/lost-scopes.ts'
import type { Dialect } from '../../spans/dialect.ts'
import { recognise } from '../../spans/recognise.ts'
import { isRedactionMark } from '../../spans/redaction-mark.ts'
import type { SourceLog, SourceSpan } from '../../spans/source-span.ts'
import { LiveSpan, TreeNode } from './tree-node.ts'
import { TraceTree } from './trace-tree.ts'

/** A recorded span, the log records in which its library wrote content, and its node in the tree of its trace. */
export interface RecordedSpan {
  /** Its node in the tree of its trace. */
  readonly node: TreeNode
  /** The dialect that `recognise` found for it, if any. */
  readonly dialect: Dialect | undefined
  /** The record. */
  readonly source: SourceSpan
  /** Log records of the span. */
  readonly logs: readonly SourceLog[]
}

/**
 * The tree of one recorded trace. If a span was recorded several times, the last record counts.
 *
 * @param logs log records of the trace, by span id
 */
export function recordedTree(
  traceId: string,
  spans: readonly SourceSpan[],
  logs: ReadonlyMap<string, readonly SourceLog[]>,
): TraceTree {
  const tree = new TraceTree(traceId)
  const recorded = Array.from(withoutCopies(spans), (source) => {
    const { spanId, parentSpanId = '', parentIsRemote = false } = source
    const node = new TreeNode({ spanId, parentId: parentSpanId, isRemote: parentIsRemote }, undefined, undefined, 0)
    tree.record(node)
    const dialect = recognise(source.scope.name, source.attributes, source.name)
    return { node, dialect, source, logs: logs.get(spanId) ?? NO_LOGS }
  })
  placeSpans(recorded)
  for (const { node } of recorded) if (node.span !== undefined) tree.add(node, node.span)
  return tree
}

const NO_LOGS: readonly SourceLog[] = []

/** Places the recognised ones of a trace's recorded spans. */
export function placeSpans(recorded: readonly RecordedSpan[]): void {
  const withoutScopes = dialectsWithoutScopes(recorded.map(({ source }) => source))
  for (const { node, dialect: general, source, logs } of recorded) {
    const dialect = general && dialectWithoutScope(source, general, withoutScopes)
    node.describe(source.attributes, dialect)
    if (dialect !== undefined) node.span = new LiveSpan(node, source, dialect, { logs })
  }
}

/** Keeps one record of each span: the last one, or of several that end at the same time the one that holds most. */
function withoutCopies(spans: readonly SourceSpan[]): Iterable<SourceSpan> {
  const byId = new Map<string, SourceSpan>()
  for (const span of spans) {
    const other = byId.get(span.spanId)
    if (other === undefined || compareCopies(heldBy(span), heldBy(other)) > 0) byId.set(span.spanId, span)
  }
  return byId.values()
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
